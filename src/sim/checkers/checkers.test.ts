import { describe, expect, it } from 'vitest';
import type { Fact } from '../../core/fact.ts';
import { refuse } from '../../core/refusal.ts';
import type { StoredBatch } from '../../log/batch.ts';
import type { History } from '../history.ts';
import { checkers } from './all.ts';
import { check } from './checker.ts';
import {
  answered,
  archived,
  broken,
  collected,
  exited,
  history,
  joined,
  other,
  placed,
  ready,
  readyNow,
  restartedFact,
  runOf,
  seal,
  signalOf,
  startedNow,
  submitted,
  wholeLife,
} from './histories.testsuite.ts';
import { leased, lost, suspected } from './of-leases.testsuite.ts';
import { printedAs } from './of-pushed-logs.testsuite.ts';
import { restarted, supervised } from './of-restarts.testsuite.ts';
import { runWith, setTo } from './of-secrets.testsuite.ts';
import {
  applied,
  dismissedNow,
  overdue,
  readySeq,
  replica,
  rollout,
  saidUnready,
  served,
} from './of-services.testsuite.ts';

const probe = {
  ask: { kind: 'tcp' },
  intervalMs: 1000,
  timeoutMs: 500,
  failures: 3,
  successes: 1,
  initialDelayMs: 0,
} as const;

/** For each promise, a history that breaks it. */
const breaches: Readonly<Record<string, History>> = {
  I1: history(wholeLife, (made) => {
    made.batches = made.batches.map((batch, i) => (i === 2 ? { ...batch, atMs: 99 } : batch));
  }),
  I2: history(wholeLife, (made) => made.answers.push(answered('b-1'))),
  I3: history(wholeLife, (made) => made.answers.push(answered('a-1'), answered('a-2'))),
  I4: history(wholeLife, (made) => made.samples.push({ who: 'n', seq: 3, hash: 'another' })),
  I6: history(wholeLife, (made) =>
    made.decisions.push({ kind: 'Tick', isEqual: false, changedState: false, threw: null }),
  ),
  I7: history(wholeLife, (made) => {
    made.batches = seal(wholeLife, (index) => -index);
  }),
  I8: history([
    joined,
    submitted('a-1'),
    submitted('b-1'),
    placed('a-1', { devices: ['G'] }),
    placed('b-1', { devices: ['G'] }),
  ]),
  I9: history(wholeLife, ({ truth }) => {
    truth.processes.push(runOf({ devices: ['G'] }), runOf({ devices: ['G'], ...other }));
  }),
  I10: history([joined, submitted('a-1'), placed('a-1', { cpus: 3 })]),
  I11: history(wholeLife, ({ truth }) => truth.processes.push(runOf({ startMs: 20, endMs: 30 }))),
  I12: history([joined, submitted('a-1', { onNodeLoss: 'wait' }), ...wholeLife.slice(2)], ({ truth }) => {
    truth.processes.push(runOf(other));
  }),
  I13: history([...wholeLife.slice(0, -1), placed('a-1', { attempt: 2 }), archived]),
  I14: history([joined, submitted('a-1'), placed('a-1', { attempt: 2 }), exited]),
  I15: history([...wholeLife.slice(0, 6), collected, ...wholeLife.slice(6)]),
  I16: history(wholeLife, ({ truth }) => truth.signals.push(signalOf())),
  I17: history(wholeLife, ({ truth }) => truth.signals.push(signalOf({ role: 'bystander', attempt: null }))),
  I24: history(wholeLife, ({ truth }) => {
    truth.processes.push(runOf({ port: 1, label: 'setup' }), runOf({ port: 1, ...other }));
  }),
  I18: restarted(supervised(), [0, 500]),
  B3: restarted(
    [...supervised().slice(0, 4), ...[2, 1].map((restarts): Fact => restartedFact(restarts)), ...supervised().slice(4)],
    [0, 2000, 9000],
  ),
  X6: saidUnready(readySeq - 1),
  X26: history(
    [joined, submitted('a-1', { readiness: probe }), placed('a-1'), ready, startedNow, readyNow],
    ({ truth }) => truth.processes.splice(0, 1, runOf({ openSeq: null })),
  ),
  I19: history([...served, dismissedNow]),
  I20: history([...served, replica('s-2', 1), replica('s-3', 1)]),
  I21: overdue((nowMs) => nowMs),
  X25: history([...served, applied(2), rollout(2), dismissedNow]),
  X20: history(wholeLife, (made) => made.applied.push({ service: 's', revision: 1 })),
  I25: history(wholeLife, (made) =>
    made.deadEndpoints.push({ service: 's', endpoint: '127.0.0.1:1', deadMs: 4000, allowedMs: 3000 }),
  ),
  S7: history(wholeLife, ({ truth }) => {
    truth.processes.splice(0, 1, runOf({ exit: { code: 1, signal: null } }));
  }),
  I26: history(wholeLife, (made) => made.refusals.push({ ...refuse('NOT_FOUND', ''), message: '' })),
  I27: history(wholeLife.slice(0, -3)),
  I28: history(wholeLife, (made) => {
    made.rest = { startSeq: 8, endSeq: 9 };
  }),
  G14: runWith([setTo('v1'), placed('a-1')], { s: 'v2' }),
  C10: printedAs('one\n'),
  X29: history([{ ...submitted('a-1'), owner: 'user1' } as Fact]),
  X12: leased([suspected('a'), suspected('b'), suspected('c'), lost('a')], [0, 0, 0, 120_000]),
  bug: history(wholeLife, (made) => made.bugs.push('Error: no fault explains this')),
};

describe('the checkers', () => {
  it('find nothing in a history that keeps every promise', () => {
    expect(check(history(), checkers)).toEqual([]);
  });

  it.each(Object.entries(breaches))('find a breach of promise %s', (id, made) => {
    expect(broken(made)).toContain(id);
  });

  it('find that a snapshot and its tail lead elsewhere [I5]', () => {
    const made = history(wholeLife.slice(0, 6));
    // Read a second time, the last fact is another one: so the state with the snapshot and the one without part.
    let reads = 0;
    const [last] = made.batches.slice(-1);
    const changing = {
      ...last,
      get factsText() {
        reads += 1;
        return JSON.stringify(reads === 1 ? [collected] : [{ ...joined, node: 'm' }]);
      },
    } as StoredBatch;
    made.batches = [...made.batches.slice(0, -1), changing];
    expect(broken(made)).toContain('I5');
  });

  it('find a report of an attempt that was replaced, and news that is none [I14] [I28]', () => {
    const facts = [joined, submitted('a-1'), placed('a-1', { attempt: 2 }), { ...startedNow, attempt: 1 }];
    expect(broken(history(facts))).toContain('I14');
    expect(broken(history([joined, submitted('a-1'), placed('a-1'), ready, startedNow, startedNow]))).toContain('I28');
  });

  it('have each a history that breaks it', () => {
    // The fold itself gives what these two look at: deliberate faults in it show that they do.
    expect(new Set([...Object.keys(breaches), 'I5', 'X21'])).toEqual(new Set(checkers.map(({ id }) => id)));
  });
});
