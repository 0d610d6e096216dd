import type { FactTime } from '../job/evolve.ts';
import type { State } from '../state.ts';
import type { SecretFact } from './facts.ts';
import { secretKey } from './secret.ts';

/** Folds one fact about a secret. Total. What waits for it is looked at again. */
export function evolveSecret(state: State, fact: SecretFact, { atMs }: FactTime): void {
  const { project, name } = fact;
  const key = secretKey(project, name);
  state.derived.placementDue = true;
  switch (fact.kind) {
    case 'SecretSet': {
      const boxes = new Map(Object.entries(fact.boxes));
      state.secrets.set(key, { project, name, boxes, by: fact.by, setAtMs: atMs });
      return;
    }
    case 'SecretShared': {
      const known = state.secrets.get(key);
      if (known === undefined) return;
      state.secrets.set(key, { ...known, boxes: new Map([...known.boxes, ...Object.entries(fact.boxes)]) });
      return;
    }
    case 'SecretRemoved':
      state.secrets.delete(key);
  }
}
