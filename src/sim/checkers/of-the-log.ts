import { evolve } from '../../core/evolve.ts';
import type { Fact } from '../../core/fact.ts';
import { fromRecords, toRecords } from '../../core/records.ts';
import { isRefusal, refusals } from '../../core/refusal.ts';
import { emptyState } from '../../core/state.ts';
import { genesisHash, verifyChain } from '../../log/batch.ts';
import { hashState } from '../state-hash.ts';
import { virtualHash } from '../virtual-hash.ts';
import type { Checker } from './checker.ts';

const digests = { sha256: virtualHash, sha256File: () => Promise.resolve(null), timingSafeEqual: Object.is };

/** What the log and the answers to commands promise. */
export const logCheckers: readonly Checker[] = [
  {
    id: 'I1',
    says: 'facts are numbered without gaps and chained',
    open: ({ batches }, report) => ({
      finish: () => {
        try {
          verifyChain(digests, { seq: 0, hash: genesisHash }, batches);
        } catch (error) {
          report(String(error));
        }
      },
    }),
  },
  {
    id: 'I2',
    says: 'what was acknowledged never vanishes',
    open: ({ answers }, report) => {
      const submitted = new Set<string>();
      return {
        beforeFact: (fact) => {
          if (fact.kind === 'JobSubmitted') submitted.add(fact.job);
        },
        finish: () => {
          for (const { key, answer } of answers) {
            if (isRefusal(answer) || answer.kind !== 'submitted' || submitted.has(answer.job)) continue;
            report(`submission ${key} was answered with ${answer.job}, of which the log knows nothing`);
          }
        },
      };
    },
  },
  {
    id: 'I3',
    says: 'one idempotency key has one effect and one answer',
    open: ({ answers }, report) => {
      const counts = new Map<string, number>();
      return {
        beforeFact: (fact) => {
          if (fact.kind === 'JobSubmitted' && fact.service === null)
            counts.set(fact.name, (counts.get(fact.name) ?? 0) + 1);
        },
        finish: () => {
          for (const [name, count] of counts) if (count > 1) report(`${name} was submitted ${count} times`);
          const first = new Map<string, string>();
          for (const { key, answer } of answers) {
            if (isRefusal(answer)) continue;
            const text = JSON.stringify(answer);
            const known = first.get(key) ?? text;
            first.set(key, known);
            if (known !== text) report(`${key} was answered with ${known} and with ${text}`);
          }
        },
      };
    },
  },
  {
    id: 'I4',
    says: 'the same log gives the same state in every process',
    open: ({ samples }, report) => {
      const bySeq = new Map<number, typeof samples>();
      for (const one of samples) bySeq.set(one.seq, [...(bySeq.get(one.seq) ?? []), one]);
      return {
        afterBatch: (state, batch) => {
          const here = bySeq.get(batch.lastSeq) ?? [];
          if (here.length === 0) return;
          const expected = hashState(state);
          for (const { who, hash } of here) {
            if (hash !== expected) report(`${who} held another state after fact ${batch.lastSeq}`);
          }
        },
      };
    },
  },
  {
    id: 'I5',
    says: 'a snapshot and what came after make the whole',
    open: ({ batches }, report) => {
      let restored = emptyState();
      const snapshotAt = Math.floor(batches.length / 2);
      let seen = 0;
      return {
        afterBatch: (state, batch) => {
          seen += 1;
          for (const fact of JSON.parse(batch.factsText) as readonly Fact[]) evolve(restored, fact, batch);
          if (seen === snapshotAt) restored = fromRecords(toRecords(state));
        },
        finish: (state) => {
          if (hashState(restored) !== hashState(state))
            report(`the snapshot after batch ${snapshotAt} leads elsewhere`);
        },
      };
    },
  },
  {
    id: 'I6',
    says: 'deciding is pure and never throws',
    open: ({ decisions }, report) => ({
      finish: () => {
        for (const { kind, isEqual, threw } of decisions) {
          if (threw !== null) report(`${kind} threw ${threw}`);
          else if (!isEqual) report(`${kind}, decided twice on one state, came out differently`);
        }
      },
    }),
  },
  {
    id: 'I7',
    says: 'log time never goes back',
    open: (_history, report) => {
      let lastMs = -Infinity;
      return {
        afterBatch: (_state, { nowMs, seq }) => {
          if (nowMs < lastMs) report(`fact ${seq} is of ${nowMs}, the one before of ${lastMs}`);
          lastMs = nowMs;
        },
      };
    },
  },
  {
    id: 'I26',
    says: 'what is refused changes nothing and is refused by name',
    open: (history, report) => ({
      finish: () => {
        for (const { code, message } of history.refusals) {
          if (!(code in refusals) || message === '') report(`a refusal with code ${code} and message "${message}"`);
        }
        for (const { kind, changedState } of history.decisions) {
          if (changedState) report(`deciding ${kind} changed the state`);
        }
      },
    }),
  },
];
