import type { Fact } from '../fact.ts';

/** Who did it: the user who asked for what the fact says. Null for what followed by rule, and for what nodes report. */
export function actorOf(fact: Fact): string | null {
  switch (fact.kind) {
    case 'JobSubmitted':
      return fact.service === null ? fact.owner : null;
    case 'AccessRefused':
      return fact.who;
    default: {
      const by = 'by' in fact ? (fact.by ?? null) : null;
      return by === 'runyard' ? null : by;
    }
  }
}
