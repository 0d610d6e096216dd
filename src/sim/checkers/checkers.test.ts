import { describe, expect, it } from 'vitest';
import { noQuota, type Quota } from '../../core/access/access.ts';
import type { Fact } from '../../core/fact.ts';
import { builtInSettings, type Settings } from '../../core/profile/settings.ts';
import { refuse } from '../../core/refusal.ts';
import type { Revision } from '../../core/service/service.ts';
import { defaultRestart, type RestartPolicy } from '../../core/supervision/policy.ts';
import { genesisHash, type StoredBatch, sealBatch } from '../../log/batch.ts';
import { createHistory, type History } from '../history.ts';
import { Hearing } from '../served/hearing.ts';
import { PushedLogs } from '../served/pushed-logs.ts';
import { createTruth, type TrueProcess, type TrueSignal } from '../truth.ts';
import { virtualHash } from '../virtual-hash.ts';
import { writeBox } from '../virtual-sealing.ts';
import { checkers } from './all.ts';
import { check } from './checker.ts';

const digests = { sha256: virtualHash, sha256File: () => Promise.resolve(null), timingSafeEqual: Object.is };
const key = { job: 'a-1', index: 0, rank: 0, attempt: 1 };
const attempt = 'a-1.0.0.1';

function submitted(job: string, settings: Partial<Settings> = {}): Fact {
  const [name = ''] = job.split('-');
  const spec = { name, run: 'true', setup: null, workspace: null, outputs: ['out'], env: {}, args: [] };
  const about = { job, name, project: 'default', owner: 'someone', spec, source: null, profile: null, workspace: null };
  const merged = { ...builtInSettings, ...settings };
  return { kind: 'JobSubmitted', ...about, settings: merged, origins: {}, retryOf: null, indices: null, service: null };
}

const joined: Fact = {
  kind: 'NodeJoined',
  node: 'n',
  instance: 'i',
  bootId: 'b',
  capacity: { cpus: 2, memoryMiB: 100, gpus: [], labels: {} },
  advertise: '',
  platform: 'linux',
  version: '0',
  leased: false,
};

function placed(job: string, more: { cpus?: number; devices?: string[]; attempt?: number } = {}): Fact {
  const task = { node: 'n', devices: more.devices ?? [], cpus: more.cpus ?? 1, memoryMiB: 0 };
  return { kind: 'AttemptPlaced', job, index: 0, attempt: more.attempt ?? 1, tasks: [task] };
}

const gaveUp: Fact = { kind: 'GaveUp', ...key, message: 'failed 3 times in a row; the last: x' };
const restartedFact = (restarts: number): Fact => ({ kind: 'Restarted', ...key, restarts, lastFailure: '' });
const outcome = { reason: 'exit', exitCode: 0, signal: null, message: '' } as const;
const ready: Fact = { kind: 'NodeReady', ...key };
const exited: Fact = { kind: 'JobExited', ...key, exitCode: 0, signal: null, detail: null };
const collected: Fact = { kind: 'OutputsCollected', ...key, outputs: [], manifest: null, exitCode: 0, signal: null };
const attemptEnded: Fact = { kind: 'AttemptEnded', job: 'a-1', index: 0, attempt: 1, outcome, retryAtMs: null };
const jobEnded: Fact = { kind: 'JobEnded', job: 'a-1', outcome };
const archived: Fact = { kind: 'JobArchived', job: 'a-1' };
const wholeLife = [joined, submitted('a-1'), placed('a-1'), ready, exited, collected, attemptEnded, jobEnded, archived];

/** One batch a fact, sealed as the log does it. */
function seal(facts: readonly Fact[], nowMs: (index: number) => number = (index) => index): StoredBatch[] {
  const batches: StoredBatch[] = [];
  let previousHash = genesisHash;
  for (const [index, fact] of facts.entries()) {
    const time = { nowMs: nowMs(index), atMs: index, bootId: 'b', bootMs: index };
    const where = { seq: index + 1, lastSeq: index + 1, id: String(index), format: 1, previousHash };
    const batch = sealBatch(digests, { ...time, ...where, factsText: JSON.stringify([fact]) });
    previousHash = batch.hash;
    batches.push(batch);
  }
  return batches;
}

const runOf = (more: Partial<TrueProcess> = {}): TrueProcess => ({
  attempt,
  label: 'run',
  role: 'command',
  node: 'n',
  machine: 'm',
  devices: [],
  port: null,
  secrets: {},
  serves: null,
  startMs: 0,
  startSeq: 0,
  openSeq: null,
  heardSeq: null,
  endMs: 10,
  endSeq: null,
  exit: { code: 0, signal: null },
  ...more,
});

const signalOf = (more: Partial<TrueSignal> = {}): TrueSignal => ({
  atMs: 5,
  seq: 4,
  by: 'n',
  signal: 'SIGTERM',
  role: 'command',
  pid: 1,
  attempt,
  isSweep: false,
  ...more,
});

function history(facts: readonly Fact[] = wholeLife, change: (history: History) => void = () => {}): History {
  const truth = createTruth(() => 0);
  truth.processes.push(runOf());
  const made = createHistory(truth);
  made.batches = seal(facts);
  change(made);
  return made;
}

/** Ids of the promises that a history breaks. */
function broken(made: History): readonly string[] {
  return [...new Set(check(made, checkers).map((problem) => problem.split(':', 1)[0] ?? ''))].sort();
}

const answered = (job: string): History['answers'][number] => ({
  key: 'k',
  name: 'a',
  answer: { kind: 'submitted', job },
});
const other = { attempt: 'a-1.0.0.2' };

const restart = { ...defaultRestart, backoff: { initialMs: 1000, maxMs: 30_000 } };
const supervised = (more: Partial<RestartPolicy> = {}): readonly Fact[] => [
  joined,
  submitted('a-1', { restart: { ...restart, ...more } }),
  ...wholeLife.slice(2),
];

/** A history of one attempt whose run ended with code 1 at each of these times, 10 ms after its start. */
function restarted(facts: readonly Fact[], startsMs: readonly number[]): History {
  return history(facts, ({ truth }) => {
    const exit = { code: 1, signal: null };
    truth.processes.splice(0, 1, ...startsMs.map((startMs) => runOf({ startMs, endMs: startMs + 10, exit })));
  });
}

const revision = (number: number, rollout: Partial<Settings['rollout']> = {}): Revision => {
  const spec = { name: 's', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [] };
  const settings = { ...builtInSettings, rollout: { ...builtInSettings.rollout, minReadyMs: 0, ...rollout } };
  return { number, spec, source: null, settings, origins: {}, profile: null, workspace: null };
};
const applied = (number: number, desired = 1): Fact => {
  const about = { service: 's', project: 'default', owner: 'someone', by: 'someone' };
  return { kind: 'ServiceApplied', ...about, revision: revision(number), desired };
};
const rollout = (to: number): Fact => ({ kind: 'RolloutStarted', service: 's', from: 1, to, deadlineAtMs: 100 });
const replica = (job: string, number: number): Fact => ({
  ...(submitted(job) as Extract<Fact, { kind: 'JobSubmitted' }>),
  service: { name: 's', index: 0, revision: number },
});
const readyAs = (job: string): readonly Fact[] => [
  placed(job),
  { ...key, job, kind: 'NodeReady' },
  { ...key, job, kind: 'JobStarted', port: 1 },
  { ...key, job, kind: 'ReadinessChanged', ready: true, reason: null },
];
const unreadyNow: Fact = { ...key, job: 's-1', kind: 'ReadinessChanged', ready: false, reason: 'port refused' };
const dismissedNow: Fact = { kind: 'ReplicaDismissed', service: 's', job: 's-1', reason: 'replaced' };
/** One replica is wanted and ready. */
const served = [joined, applied(1), rollout(1), replica('s-1', 1), ...readyAs('s-1')];

const readySeq = served.length;

/**
 * A run that answers well is said to be unready; it began to listen on its own port when the log held so many facts, and
 * what had been asked before was told when it held so many.
 */
function saidUnready(openSeq: number | null, heardSeq: number | null = openSeq): History {
  return history([...served, unreadyNow], ({ truth }) => {
    const serves = { runsMs: [1000], exitCode: 0, opensMs: 0, elsewhere: false, cycle: [], missing: false };
    truth.processes.push(runOf({ attempt: 's-1.0.0.1', serves, openSeq, heardSeq, endMs: 1000, endSeq: 99 }));
  });
}

/** A run that listens after 5 s only, is probed from its start on, and is told to end at each of these times. */
function slowStarter(signalsMs: readonly number[]): History {
  const ask = { kind: 'tcp' } as const;
  const liveness = { ask, intervalMs: 1000, timeoutMs: 500, failures: 3, successes: 1, initialDelayMs: 0 };
  const facts = [joined, submitted('a-1', { liveness, graceMs: 0 }), ...wholeLife.slice(2)];
  return history(facts, ({ truth }) => {
    const cycle = [{ forMs: 1e10, answer: 'ok' }] as const;
    const serves = { runsMs: [1e10], exitCode: 0, opensMs: 5000, elsewhere: false, cycle, missing: false };
    truth.processes.splice(0, 1, runOf({ serves, endMs: 60_000 }));
    truth.signals.push(...signalsMs.map((atMs) => signalOf({ atMs, signal: 'SIGKILL' })));
  });
}

const leasedNode = (node: string): Fact => ({ ...joined, node, leased: true });
const suspected = (node: string): Fact => ({ kind: 'NodeSuspected', node });
const lost = (node: string): Fact => ({ kind: 'NodeDeclaredLost', node, by: null });

/** Four nodes join at once; what is said of them then comes at these times. Servers heard of `a` and began to listen when told so. */
function leased(
  facts: readonly Fact[],
  timesMs: readonly number[],
  { heardMs = [], beganMs = [] }: { heardMs?: readonly number[]; beganMs?: readonly number[] } = {},
): History {
  const joins = ['a', 'b', 'c', 'd'].map(leasedNode);
  const all = [...joins, ...facts];
  return history(all, (made) => {
    made.batches = seal(all, (index) => timesMs[index - joins.length] ?? 0);
    made.hearing = new Hearing();
    for (const atMs of heardMs) made.hearing.heard('a', 'i', atMs);
    for (const atMs of beganMs) made.hearing.began(atMs);
    made.truth.processes.splice(0);
  });
}

const probe = {
  ask: { kind: 'tcp' },
  intervalMs: 1000,
  timeoutMs: 500,
  failures: 3,
  successes: 1,
  initialDelayMs: 0,
} as const;
const startedNow: Fact = { ...key, kind: 'JobStarted', port: 1 };
const readyNow: Fact = { ...key, kind: 'ReadinessChanged', ready: true, reason: null };

const userToken = {
  ...({ kind: 'user', id: 'user1n0', user: 'user1', hash: '', createdAtMs: 0 } as const),
  ...{ expiresAtMs: null, project: null, admin: false },
};
const granted = { kind: 'RoleGranted', project: 'p1', user: 'user1', role: 'member', by: 'x' } as const;
const submittedByUser = { ...submitted('a-1'), project: 'p1', owner: 'user1' } as Fact;
const stoppedByUser = {
  ...({ kind: 'OperatorStop', job: 'a-1', indices: null, by: 'user1', graceMs: 0, message: '' } as const),
};
const projectOf = (quota: Partial<Quota>): Fact => ({
  ...({ kind: 'ProjectCreated', project: 'p1', everyone: null, by: 'x' } as const),
  quota: { ...noQuota, ...quota },
});

const setTo = (value: string): Fact => {
  const boxes = { key: writeBox({ publicKey: 'key', value }) };
  return { kind: 'SecretSet', project: 'default', name: 's', boxes, by: 'x' };
};
const removed: Fact = { kind: 'SecretRemoved', project: 'default', name: 's', by: 'x' };

/** What a run was given that started once the log held so many facts. */
function runWith(facts: readonly Fact[], secrets: Readonly<Record<string, string>>, startSeq = 4): History {
  return history([joined, submitted('a-1'), ...facts], ({ truth }) => {
    truth.processes.splice(0, 1, runOf({ secrets, startSeq }));
  });
}

/** A command printed two lines, and the server has this of them. */
function printedAs(text: string, struck = ''): History {
  return history(wholeLife, (made) => {
    made.truth.printed.set(`${attempt}/run.out`, 'one\ntwo\n');
    made.truth.troubled.add(struck);
    made.rest = { startSeq: 9, endSeq: 9 };
    made.logs = new PushedLogs();
    const bytes = new TextEncoder().encode(text);
    made.logs.take({ task: attempt, file: 'run.out', offset: 0, droppedFrom: null, bytes });
  });
}

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
  I21: history(wholeLife, (made) => {
    const ticks = Array.from({ length: 30 }, (): Fact => ({ kind: 'ServiceSettled', service: 's' }));
    made.batches = seal([...served, ...ticks], (index) => index * 1000);
  }),
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

  it.each([
    ['began before its time, after three failures', supervised(), [0, 1000, 3000, 5000]],
    ['was restarted once more than it may', supervised({ maxRestarts: 1 }), [0, 1000, 4000]],
    [
      'failed more often in a row than it may',
      supervised({ giveUp: { kind: 'failures', failures: 2 } }),
      [0, 1000, 4000],
    ],
    ['was restarted, though nothing is', supervised({ policy: 'never' }), [0, 1000]],
    ['gave up early', [...supervised().slice(0, 4), gaveUp, ...supervised().slice(4)], [0, 1000]],
  ] as const)('find a command that %s [I18]', (_what, facts, startsMs) => {
    expect(broken(restarted(facts, startsMs))).toContain('I18');
  });

  it('find nothing in restarts that come when they are due [I18]', () => {
    const facts = supervised({ maxRestarts: 3, giveUp: { kind: 'failures', failures: 4 } });
    expect(broken(restarted(facts, [0, 1000, 3000, 7000]))).not.toContain('I18');
  });

  it.each([null, readySeq])('find nothing where a stranger on its port was taken for the run [X6] (%s)', (openSeq) => {
    expect(broken(saidUnready(openSeq))).not.toContain('X6');
  });

  it('find nothing in what is told late of a run before the one that lives [X6]', () => {
    const made = saidUnready(readySeq - 1);
    const earlier = made.truth.processes.findLast((one) => one.attempt === 's-1.0.0.1');
    if (earlier !== undefined) made.truth.processes.unshift({ ...earlier, endMs: 10, endSeq: 1 });
    expect(broken(made)).not.toContain('X6');
  });

  it('find nothing where the last of its failures was asked for just before it listened [X6]', () => {
    expect(broken(saidUnready(readySeq - 1, null))).not.toContain('X6');
  });

  it('find nothing where a run that was not alive cannot be killed for long, and is well by then [I16]', () => {
    expect(broken(slowStarter([3000, 40_000, 41_000]))).not.toContain('I16');
  });

  it('find once that a run is killed again and again which was well for long [I16]', () => {
    const found = check(slowStarter([40_000, 41_000]), checkers);
    expect(found.filter((problem) => problem.startsWith('I16'))).toHaveLength(1);
  });

  it('find a service that does not stand as it should, and one that goes on writing [I27] [I28]', () => {
    expect(broken(history(wholeLife, (made) => made.unsettled.push('s: 0 of 1 ready')))).toContain('I27');
    const busy = history(wholeLife, (made) => {
      made.steady = { startSeq: 1, endSeq: 2 };
    });
    expect(broken(busy)).toContain('I28');
  });

  it.each([
    ['missed before its lease is over', leased([suspected('a')], [29_000])],
    ['missed though it was heard', leased([suspected('a')], [60_000], { heardMs: [40_000] })],
    ['lost before its grace is over', leased([suspected('a'), lost('a')], [30_000, 119_000])],
    [
      'lost for an outage of the server',
      leased([suspected('a'), lost('a')], [400_000, 480_000], { beganMs: [100_000] }),
    ],
    [
      'lost too early after others came back',
      leased([suspected('a'), { kind: 'LossReleased' }, lost('a')], [30_000, 100_000, 121_000]),
    ],
  ])('find a node that is %s [I16]', (_what, made) => {
    expect(broken(made)).toContain('I16');
  });

  it('find nothing in a node that is lost when it is due [I16] [X12]', () => {
    const made = leased([suspected('a'), lost('a')], [40_000, 130_000], { heardMs: [10_000], beganMs: [0] });
    expect(broken(made)).not.toContain('I16');
    expect(broken(made)).not.toContain('X12');
  });

  it('find an agent that comes back after another has replaced it [I14]', () => {
    const joins = ['one', 'other', 'one'].map((instance): Fact => ({ ...joined, instance }) as Fact);
    expect(broken(history(joins))).toContain('I14');
    expect(broken(history(joins.slice(0, 2)))).not.toContain('I14');
  });

  it('find what is given back while a process of it lives [I9]', () => {
    const lostWith = (held: boolean): History => {
      const fact: Fact = { ...key, kind: 'NodeLost', message: 'lost', held };
      return history([joined, submitted('a-1'), placed('a-1'), fact], ({ truth }) => {
        truth.processes.splice(0, 1, runOf({ endMs: null, exit: null }));
      });
    };
    expect(broken(lostWith(false))).toContain('I9');
    expect(broken(lostWith(true))).not.toContain('I9');
  });

  it('find work that is given to a silent node [X12]', () => {
    const facts = [joined, submitted('a-1'), suspected('n'), placed('a-1')];
    expect(check(history(facts), checkers).join()).toContain('is given no work');
  });

  it('find a report of an attempt that was replaced, and news that is none [I14] [I28]', () => {
    const facts = [joined, submitted('a-1'), placed('a-1', { attempt: 2 }), { ...startedNow, attempt: 1 }];
    expect(broken(history(facts))).toContain('I14');
    expect(broken(history([joined, submitted('a-1'), placed('a-1'), ready, startedNow, startedNow]))).toContain('I28');
  });

  it('find what a server leaves undone, and what it says twice [I27] [I28]', () => {
    expect(broken(history(wholeLife, (made) => made.overdue.push('n is not lost')))).toContain('I27');
    expect(broken(leased([suspected('a'), suspected('a')], [40_000, 41_000]))).toContain('I28');
  });

  it.each([
    ['has no role in the project', [], { ...userToken }],
    ['was a member until then', [granted, { kind: 'RoleRevoked', project: 'p1', user: 'user1', by: 'x' }], userToken],
    ['has a token for another project', [granted], { ...userToken, project: 'p2' }],
    ['has a token that is over', [granted], { ...userToken, expiresAtMs: 1 }],
  ] as const)('find a submission of who %s [X29]', (_what, roles, token) => {
    const facts: readonly Fact[] = [projectOf({}), { kind: 'TokenCreated', token, by: 'x' }, ...roles, submittedByUser];
    expect(broken(history(facts))).toContain('X29');
  });

  it('find nothing in what a member submits, and a token that was revoked by then [X29]', () => {
    const created: Fact = { kind: 'TokenCreated', token: userToken, by: 'x' };
    const good: readonly Fact[] = [projectOf({}), created, granted];
    expect(broken(history([...good, submittedByUser]))).not.toContain('X29');
    const revoked: Fact = { kind: 'TokenRevoked', token: userToken.id, by: 'x' };
    expect(broken(history([...good, revoked, submittedByUser]))).toContain('X29');
  });

  it.each([
    ['a project', { kind: 'ProjectCreated', project: 'p3', quota: noQuota, everyone: null, by: 'user1' }],
    ['a role', { ...granted, by: 'user1' }],
    ['a token of somebody else', { kind: 'TokenCreated', token: { ...userToken, user: 'user2' }, by: 'user1' }],
    ['a token of an administrator', { kind: 'TokenCreated', token: { ...userToken, admin: true }, by: 'user1' }],
    ['a stop of the work of others', { ...stoppedByUser }],
  ] as const satisfies readonly (readonly [string, Fact])[])('find %s by who may not [X29]', (_what, fact) => {
    const created: Fact = { kind: 'TokenCreated', token: userToken, by: 'x' };
    const facts = [projectOf({}), created, granted, { ...submittedByUser, owner: 'user2' } as Fact, fact];
    expect(check(history(facts), checkers).filter((one) => one.includes(`fact ${facts.length}`))).not.toEqual([]);
  });

  it('find what is given to a project beyond its quota [X29]', () => {
    const facts = (cores: number) => [joined, projectOf({ cores }), submittedByUser, placed('a-1', { cpus: 2 })];
    expect(check(history(facts(1)), checkers).join()).toContain('was given 2 of 1 cores');
    expect(check(history(facts(2)), checkers).join()).not.toContain('cores');
  });

  it.each([
    ['was removed before it was placed', [setTo('v1'), removed, placed('a-1')], 'v1'],
    ['was replaced before it was placed', [setTo('v1'), setTo('v2'), placed('a-1')], 'v1'],
    ['was set after it had started', [setTo('v1'), placed('a-1'), setTo('v2')], 'v2'],
    ['is of another project', [{ ...setTo('v1'), project: 'p1' } as Fact, setTo('v2'), placed('a-1')], 'v1'],
    ['stays on another node', [setTo('v1'), placed('a-1')], 'node other 1'],
  ] as const)('find a run with a value that %s [G14]', (_what, facts, value) => {
    expect(broken(runWith(facts, { s: value }))).toContain('G14');
  });

  it('find nothing in a value that stood when it was placed, came until the start, or stays on the node [G14]', () => {
    const facts = [setTo('v1'), placed('a-1'), setTo('v2')];
    expect(broken(runWith(facts, { s: 'v1' }))).not.toContain('G14');
    expect(broken(runWith(facts, { s: 'v2' }, 5))).not.toContain('G14');
    expect(broken(runWith(facts, { s: 'node n 1' }))).not.toContain('G14');
  });

  it('find a box that opens for another, an older value that is shared, and a value in the log [G14]', () => {
    const wrong: Fact = { ...setTo('v1'), boxes: { other: writeBox({ publicKey: 'key', value: 'v1' }) } } as Fact;
    expect(broken(history([wrong]))).toContain('G14');
    const boxes = { other: writeBox({ publicKey: 'other', value: 'v1' }) };
    const shared: Fact = { kind: 'SecretShared', project: 'default', name: 's', node: 'n', boxes };
    expect(broken(history([setTo('v1'), shared]))).not.toContain('G14');
    expect(broken(history([setTo('v1'), setTo('v2'), shared]))).toContain('G14');
    expect(broken(history([submitted('a-1'), setTo('v1'), { ...gaveUp, message: 'it said v1' }]))).toContain('G14');
  });

  it('find a node that a secret never came to [G14]', () => {
    const joins = ['key', 'other'].map((publicKey): Fact => ({ ...joined, node: publicKey, publicKey }) as Fact);
    const made = history([...joins, setTo('v1')], (one) => {
      one.rest = { startSeq: 3, endSeq: 3 };
    });
    expect(broken(made)).toContain('G14');
  });

  it.each([
    ['less than was printed', 'one\n', true],
    ['something that was not', 'other\n', true],
    ['something that was not, of a node that lost its power', 'other\n', true, 'n'],
    ['less, of a node that lost its power', 'one\n', false, 'n'],
    ['all of it', 'one\ntwo\n', false],
  ])('find whether a server has %s [C10]', (_what, text, isWrong, struck = '') => {
    expect(broken(printedAs(text, struck)).includes('C10')).toBe(isWrong);
  });

  it('have each a history that breaks it', () => {
    // The fold itself gives what these two look at: deliberate faults in it show that they do.
    expect(new Set([...Object.keys(breaches), 'I5', 'X21'])).toEqual(new Set(checkers.map(({ id }) => id)));
  });
});
