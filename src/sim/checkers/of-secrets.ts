import type { State } from '../../core/state.ts';
import { readBox } from '../virtual-sealing.ts';
import type { Checker } from './checker.ts';

/** What secrets promise. The simulator's boxes can be read by whoever looks, and so by these. */
export const secretCheckers: readonly Checker[] = [
  {
    id: 'G14',
    says: 'a run has the value that stood when it was placed, or one that was set since',
    open: ({ truth }, report) => {
      const values = new Values();
      const placed = new Map<string, { readonly seq: number; readonly project: string }>();
      return {
        beforeFact: (fact, state, { lastSeq }) => {
          if (fact.kind === 'AttemptPlaced') {
            const project = state.jobs.get(fact.job)?.project ?? '';
            placed.set(`${fact.job}.${fact.index}.${fact.attempt}`, { seq: lastSeq, project });
          }
          if (fact.kind === 'SecretRemoved') values.set(fact, lastSeq, null);
          if (fact.kind !== 'SecretSet' && fact.kind !== 'SecretShared') return;
          for (const [key, box] of Object.entries(fact.boxes)) {
            const content = readBox(box);
            if (content?.publicKey !== key) report(`a box of ${fact.name} in fact ${lastSeq} opens for another key`);
            if (fact.kind === 'SecretSet') values.set(fact, lastSeq, content?.value ?? null);
            else if (content?.value !== values.now(fact)) report(`an older ${fact.name} was shared in fact ${lastSeq}`);
          }
        },
        finish: () => {
          for (const { attempt, node, secrets, startSeq } of truth.processes) {
            const [job, index, , number] = attempt.split('.');
            const since = placed.get(`${job}.${index}.${number}`);
            for (const [name, value] of Object.entries(secrets)) {
              if (since === undefined || value.startsWith(`node ${node} `)) continue;
              if (values.stood({ ...since, name }, startSeq).includes(value)) continue;
              report(`${attempt} was given ${JSON.stringify(value)} as ${name} of project ${since.project}`);
            }
          }
        },
      };
    },
  },
  {
    id: 'G14',
    says: 'no value of a secret stands in the log',
    open: (_history, report) => {
      const known = new Set<string>();
      return {
        beforeFact: (fact, _state, { lastSeq }) => {
          if (fact.kind === 'SecretSet')
            for (const box of Object.values(fact.boxes)) known.add(readBox(box)?.value ?? '');
          if (known.size === 0 || fact.kind === 'SecretSet' || fact.kind === 'SecretShared') return;
          const text = JSON.stringify(fact);
          for (const value of known) if (text.includes(value)) report(`${value} in fact ${lastSeq}`);
        },
      };
    },
  },
  {
    id: 'G14',
    says: 'a secret that a node can open comes to every node',
    open: ({ rest }, report) => ({
      finish: (state) => {
        if (rest === null) return;
        for (const { project, name, boxes } of state.secrets.values()) {
          const able = keysOf(state).filter(([, key]) => boxes.has(key));
          const unable = keysOf(state).filter(([, key]) => !boxes.has(key));
          if (able.length > 0) for (const [node] of unable) report(`${node} has no ${name} of project ${project}`);
        }
      },
    }),
  },
];

function keysOf(state: State): readonly (readonly [node: string, key: string])[] {
  return [...state.nodes.values()].flatMap(({ name, publicKey }) =>
    publicKey === null ? [] : [[name, publicKey] as const],
  );
}

interface SecretName {
  readonly project: string;
  readonly name: string;
}

/** Which values every secret had, and from which fact on. */
class Values {
  readonly #values = new Map<string, { readonly seq: number; readonly value: string | null }[]>();

  set(secret: SecretName, seq: number, value: string | null): void {
    this.#of(secret).push({ seq, value });
  }

  now(secret: SecretName): string | null {
    return this.#of(secret).at(-1)?.value ?? null;
  }

  /** Those that stood at one fact or were set after it, up to another. */
  stood({ seq, ...secret }: SecretName & { readonly seq: number }, untilSeq: number): readonly (string | null)[] {
    const all = this.#of(secret).filter((one) => one.seq <= untilSeq);
    const first = all.findLastIndex((one) => one.seq <= seq);
    return all.slice(Math.max(0, first)).map(({ value }) => value);
  }

  #of({ project, name }: SecretName): { readonly seq: number; readonly value: string | null }[] {
    const key = `${project}/${name}`;
    const known = this.#values.get(key) ?? [];
    this.#values.set(key, known);
    return known;
  }
}
