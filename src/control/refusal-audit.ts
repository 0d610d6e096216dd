import type { RecordRefusal } from '../core/access/command.ts';
import type { Principal } from '../core/access/principal.ts';
import type { Command } from '../core/command.ts';
import type { Refusal } from '../core/refusal.ts';

/** An attempt that was refused. */
export type RefusedAttempt = Omit<RecordRefusal, 'kind' | 'times'>;

const quietMs = 60_000;
/** Sorts that are told apart within a minute; whoever comes under ever new names is counted with the others. */
const mostSorts = 500;

/**
 * Which refused attempts become facts: the first of each sort (who, what, which code) at once, those of the next minute
 * together with the first one after it. Whoever tries a million times writes one fact a minute (R4.31).
 */
export class RefusalAudit {
  readonly #seen = new Map<string, { last: RefusedAttempt; sinceMs: number; times: number }>();

  /** What is to be recorded now, this attempt and others that waited for their minute to end. */
  note(attempt: RefusedAttempt, nowMs: number): readonly RecordRefusal[] {
    const own = keyOf(attempt);
    const isTold = this.#seen.has(own) || this.#seen.size < mostSorts;
    const last = isTold ? attempt : { ...attempt, who: 'others', subject: null };
    const key = keyOf(last);
    const known = this.#seen.get(key);
    if (known !== undefined) {
      known.times += 1;
      known.last = last;
      return this.#due(nowMs);
    }
    this.#seen.set(key, { last, sinceMs: nowMs, times: 0 });
    return [{ kind: 'RecordRefusal', ...last, times: 1 }, ...this.#due(nowMs)];
  }

  /** Whatever has not been recorded yet, for the end. */
  rest(): readonly RecordRefusal[] {
    return this.#due(Number.POSITIVE_INFINITY);
  }

  #due(nowMs: number): readonly RecordRefusal[] {
    const due: RecordRefusal[] = [];
    for (const [key, one] of this.#seen) {
      if (nowMs - one.sinceMs < quietMs) continue;
      if (one.times === 0) {
        this.#seen.delete(key);
        continue;
      }
      due.push({ kind: 'RecordRefusal', ...one.last, times: one.times });
      one.sinceMs = nowMs;
      one.times = 0;
    }
    return due;
  }
}

function keyOf({ who, action, code }: RefusedAttempt): string {
  return JSON.stringify([who, action, code]);
}

/** The attempt behind a refusal that belongs into the audit; null for one that says nothing of who may do what. */
export function attemptOf(actor: Principal | undefined, command: Command, refusal: Refusal): RefusedAttempt | null {
  const { code } = refusal;
  if (actor === undefined || actor.kind === 'local') return null;
  if (code !== 'FORBIDDEN' && code !== 'NOT_ASSIGNED' && code !== 'UNAUTHORIZED') return null;
  return { who: whoOf(actor), action: command.kind, subject: subjectOf(command), code };
}

/** `user ada`, `node n1`. */
export function whoOf(actor: Principal): string {
  return `${actor.kind} ${actor.name}`;
}

/** What a command may be about, by the keys that commands have for it; the first that it has. */
const subjects = ['job', 'service', 'node', 'project', 'user', 'token'] as const;

function subjectOf(command: Command): string | null {
  switch (command.kind) {
    case 'NodeReport':
      return [...new Set(command.events.map(({ job }) => job))].slice(0, 3).join(', ') || null;
    case 'ApplyService':
    case 'SubmitJob':
      return command.spec.name;
    default: {
      const named: Readonly<Record<string, unknown>> = { ...command };
      const found = subjects.map((key) => named[key]).find((one) => typeof one === 'string');
      return typeof found === 'string' ? found : null;
    }
  }
}
