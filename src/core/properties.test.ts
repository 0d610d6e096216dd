import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Command } from './command.ts';
import { decide } from './decide.ts';
import { factSubject } from './describe.ts';
import { step } from './engine.ts';
import { evolve } from './evolve.ts';
import type { TaskEvent } from './job/facts.ts';
import type { Job, TaskKey } from './job/job.ts';
import { jobState } from './job/job.ts';
import { jobMoves, type JobState, type Step } from './job/lifecycle.ts';
import type { Node } from './node/node.ts';
import { place } from './placement/place.ts';
import { comesBefore } from './placement/shape-queue.ts';
import { whyWaiting } from './placement/waiting.ts';
import { fromRecords, toRecords } from './records.ts';
import { isRefusal } from './refusal.ts';
import { contextAt, gpus, joining, Scenario, submission } from './scenario.testsuite.ts';
import type { State } from './state.ts';

/** What a random walk does; keys and indices are drawn from what is there when it is done. */
type Move =
  | { readonly kind: 'submit'; readonly shape: number; readonly priority: number }
  | { readonly kind: 'stop'; readonly job: number; readonly indices: readonly number[] | null }
  | { readonly kind: 'unschedulable'; readonly job: number }
  | { readonly kind: 'join'; readonly node: number; readonly reboot: boolean }
  | { readonly kind: 'leave' | 'drain' | 'resume' | 'remove'; readonly node: number }
  | {
      readonly kind: 'report';
      readonly task: number;
      readonly events: readonly TaskEvent[];
      readonly how: 'next' | 'own' | 'foreign' | 'old' | 'twice' | 'ghost';
    }
  | { readonly kind: 'release'; readonly node: number }
  | { readonly kind: 'pass'; readonly ms: number };

const shapes = [
  [{}, {}],
  [{ resources: { cpus: 2, memoryMiB: 1024 } }, { setup: 'make', outputs: ['out'] }],
  [{ resources: { gpus: 1 }, retry: { maxAttempts: 3, onExit: [75] } }, { workspace: { workdir: '.', exclude: [] } }],
  [{ resources: { gpus: 'all' } }, {}],
  [{ nodes: 2, retry: { maxAttempts: 2, onExit: [] } }, { outputs: ['out'] }],
  [{ array: { size: 5, maxRunning: 2 }, retry: { maxAttempts: 2, onExit: [75] } }, {}],
  [
    { array: { size: 3, maxRunning: null }, onNodeLoss: 'wait', retry: { maxAttempts: 4, onExit: [] } },
    { outputs: ['out'] },
  ],
  [{ resources: { cpus: 100 } }, {}],
  [{ resources: { labels: { zone: 'b' } } }, {}],
] as const;

const event: fc.Arbitrary<TaskEvent> = fc.oneof(
  fc.constantFrom<TaskEvent>(
    { kind: 'NodeReady' },
    { kind: 'WorkspaceMaterialized' },
    { kind: 'SetupCompleted', reused: false },
    { kind: 'SetupFailed', exitCode: 1, signal: null, line: null, detail: null },
    { kind: 'TaskPrepared', address: '127.0.0.1', port: 4000 },
    { kind: 'JobStarted', port: null },
    { kind: 'EndpointOpened', endpoint: '127.0.0.1:4000' },
    { kind: 'TimedOut', timeoutMs: 1000 },
    { kind: 'GaveUp', message: 'too often' },
    { kind: 'NodeFault', message: 'broken', held: false },
    { kind: 'NodeFault', message: 'broken', held: true },
    { kind: 'NodeLost', message: 'gone' },
  ),
  fc
    .constantFrom(0, 0, 0, 1, 75)
    .map((exitCode): TaskEvent => ({ kind: 'JobExited', exitCode, signal: null, detail: null })),
  fc.constant<TaskEvent>({ kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: null }),
);

const small = fc.nat({ max: 20 });
const node = fc.nat({ max: 3 });
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      shape: fc.nat({ max: shapes.length - 1 }),
      priority: fc.constantFrom(0, 0, 5),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('stop' as const),
      job: small,
      indices: fc.option(fc.array(fc.integer({ min: -1, max: 5 }), { maxLength: 3 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('unschedulable' as const), job: small }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('join' as const), node, reboot: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('leave' as const, 'drain' as const, 'resume' as const, 'remove' as const),
      node,
    }),
  },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('report' as const),
      task: small,
      events: fc.array(event, { minLength: 1, maxLength: 4 }),
      how: fc.constantFrom<Extract<Move, { kind: 'report' }>['how']>(
        'next',
        'next',
        'next',
        'next',
        'own',
        'own',
        'foreign',
        'old',
        'twice',
        'ghost',
      ),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('release' as const), node }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(0, 1000, 60_000) }) },
);

const nodeNames = ['n0', 'n1', 'n2', 'n3'];

/** A scenario that takes moves, and the commands that it made of them. */
class Walk {
  readonly at = new Scenario();
  #submitted = 0;
  #boots = 0;

  commands(one: Move): readonly Command[] {
    switch (one.kind) {
      case 'submit': {
        this.#submitted += 1;
        const [profile, spec] = shapes[one.shape] ?? shapes[0];
        return [submission(`job-${this.#submitted}`, { ...profile, priority: one.priority }, spec)];
      }
      case 'stop':
        return [{ kind: 'StopJob', job: this.#job(one.job), indices: one.indices, by: 'ada', graceMs: null }];
      case 'unschedulable':
        return [{ kind: 'FailUnschedulable', job: this.#job(one.job), message: 'never' }];
      case 'join':
        return [this.#join(one.node, one.reboot)];
      case 'leave':
        return [{ kind: 'LeaveNode', node: name(one.node), instance: this.at.instances.get(name(one.node)) ?? '' }];
      case 'drain':
        return [{ kind: 'DrainNode', node: name(one.node), reason: 'work on it', by: 'ada' }];
      case 'resume':
        return [{ kind: 'ResumeNode', node: name(one.node), by: 'ada' }];
      case 'remove':
        return [{ kind: 'RemoveNode', node: name(one.node), by: 'ada' }];
      case 'report':
        return this.#report(one);
      case 'release': {
        const keys = [...(this.at.state.nodes.get(name(one.node))?.allocations.keys() ?? [])].map(keyOf);
        return [this.at.reportOf(name(one.node), [], keys)];
      }
      case 'pass':
        this.at.nowMs += one.ms;
        return [{ kind: 'Tick' }];
    }
  }

  #join(position: number, reboot: boolean): Command {
    const own = name(position);
    if (reboot) this.#boots += 1;
    const instance = `${own}-${this.at.facts.length}`;
    this.at.instances.set(own, instance);
    const labels: Record<string, string> = position === 1 ? { zone: 'b' } : {};
    const known = this.at.state.nodes.get(own)?.bootId ?? 'boot';
    return joining(
      own,
      instance,
      { gpus: gpus(own, position), labels },
      { bootId: reboot ? `boot-${this.#boots}` : known },
    );
  }

  #report(one: Extract<Move, { kind: 'report' }>): readonly Command[] {
    const live = liveTasks(this.at.state);
    const drawn = live[one.task % Math.max(1, live.length)];
    if (drawn === undefined || one.how === 'ghost') {
      const key = { job: 'job-0', index: 0, rank: 0, attempt: 1 };
      return [
        this.at.reportOf(
          'n0',
          one.events.map((each) => ({ ...key, ...each })),
        ),
      ];
    }
    const events = one.how === 'next' ? nextEvents(this.at, drawn.key, one.events) : one.events;
    const key = one.how === 'old' ? { ...drawn.key, attempt: drawn.key.attempt - 1 } : drawn.key;
    const from = one.how === 'foreign' ? (nodeNames.find((other) => other !== drawn.node) ?? '') : drawn.node;
    const report = this.at.reportOf(
      from,
      events.map((each) => ({ ...key, ...each })),
    );
    return one.how === 'twice' ? [report, report] : [report];
  }

  #job(drawn: number): string {
    const ids = [...this.at.state.jobs.keys()];
    return ids[drawn % Math.max(1, ids.length)] ?? 'job-0';
  }
}

/** What the task's node would say next; a fault now and then. */
function nextEvents(at: Scenario, key: TaskKey, drawn: readonly TaskEvent[]): readonly TaskEvent[] {
  const { step: stands } = at.task(key.job, key.index, key.rank);
  const [first] = drawn;
  if (first?.kind === 'NodeFault' || first?.kind === 'SetupFailed') return [first];
  const exit = drawn.find((each) => each.kind === 'JobExited') ?? {
    kind: 'JobExited',
    exitCode: 0,
    signal: null,
    detail: null,
  };
  const next: Record<Step, readonly TaskEvent[]> = {
    claimed: [],
    materialize: [{ kind: 'WorkspaceMaterialized' }],
    setup: [{ kind: 'SetupCompleted', reused: false }],
    prepare: [{ kind: 'TaskPrepared', address: '127.0.0.1', port: 4000 + key.rank }],
    run: [{ kind: 'JobStarted', port: null }, exit],
    collect: [{ kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: null }],
    ended: [],
  };
  return next[stands];
}

function name(position: number): string {
  return nodeNames[position] ?? 'n0';
}

function keyOf(text: string): TaskKey {
  const [job = '', index, rank, attempt] = text.split('.');
  return { job, index: Number(index), rank: Number(rank), attempt: Number(attempt) };
}

function liveTasks(state: State): readonly { key: TaskKey; node: string }[] {
  const found: { key: TaskKey; node: string }[] = [];
  for (const job of state.jobs.values()) {
    for (const [index, element] of job.elements) {
      if (element.kind !== 'live') continue;
      for (const task of element.tasks) {
        found.push({ key: { job: job.id, index, rank: task.rank, attempt: element.attempt }, node: task.node });
      }
    }
  }
  return found;
}

const recordsText = (state: State) => toRecords(state).join('\n');

/** Runs a walk and calls `check` after every step. */
function walks(
  runs: number,
  check: (walk: Walk, commands: readonly Command[], before: string, made: Move) => void,
): void {
  fc.assert(
    fc.property(fc.array(move, { minLength: 5, maxLength: 60 }), (moves) => {
      const walk = new Walk();
      walk.at.join('n0');
      for (const one of moves) {
        const before = recordsText(walk.at.state);
        check(walk, walk.commands(one), before, one);
      }
    }),
    { numRuns: runs },
  );
}

describe('any sequence of commands and reports', () => {
  it('is decided purely: the same facts twice, the state untouched, nothing thrown [I6]', () => {
    walks(60, ({ at }, commands, before) => {
      for (const command of commands) {
        const first = decide(at.state, command, contextAt(at.nowMs));
        expect(decide(at.state, command, contextAt(at.nowMs))).toEqual(first);
      }
      expect(recordsText(at.state)).toBe(before);
      at.step(...commands);
    });
  });

  it('is refused without a trace [I26]', () => {
    walks(40, ({ at }, commands) => {
      for (const command of commands) {
        const before = recordsText(at.state);
        if (isRefusal(decide(at.state, command, contextAt(at.nowMs)))) {
          const { facts, answers } = at.step(command);
          expect(facts).toEqual([]);
          expect(recordsText(at.state)).toBe(before);
          expect(answers.every(isRefusal)).toBe(true);
        } else {
          at.step(command);
        }
      }
    });
  });

  it('allocates no more than there is, and each GPU once [I8] [I10]', () => {
    walks(60, ({ at }, commands) => {
      at.step(...commands);
      for (const each of at.state.nodes.values()) checkAllocations(each);
      for (const { key, node: on } of liveTasks(at.state)) {
        const task = at.task(key.job, key.index, key.rank);
        const allocation = at.state.nodes
          .get(on)
          ?.allocations.get(`${key.job}.${key.index}.${key.rank}.${key.attempt}`);
        if (task.step !== 'ended') expect(allocation?.devices).toEqual(task.devices);
      }
    });
  });

  it('gives the state that its facts give from nothing [I4]', () => {
    walks(40, ({ at }, commands) => {
      at.step(...commands);
      expect(recordsText(at.replayed())).toBe(recordsText(at.state));
    });
  });

  it('goes on from a snapshot exactly as without one [I5] [X28]', () => {
    walks(40, ({ at }, commands) => {
      const restored = fromRecords(toRecords(at.state));
      expect(recordsText(restored)).toBe(recordsText(at.state));
      const { facts } = at.step(...commands, { kind: 'Tick' });
      const again = step(restored, [...commands, { kind: 'Tick' }], contextAt(at.nowMs));
      expect(again.facts).toEqual(facts);
      expect(recordsText(restored)).toBe(recordsText(at.state));
    });
  });

  it('leaves nothing unplaced that fits, and keeps maxRunning [G7] [B4]', () => {
    walks(60, ({ at }, commands) => {
      at.step(...commands, { kind: 'Tick' });
      expect(place(fromRecords(toRecords(at.state)), at.nowMs, 10)).toEqual([]);
      for (const job of at.state.jobs.values()) {
        expect(job.live).toBeLessThanOrEqual(job.settings.array?.maxRunning ?? Number.POSITIVE_INFINITY);
        checkCounts(job);
      }
    });
  });

  it('places best first: by priority, then by submission, within a shape [B6] [G7]', () => {
    walks(40, ({ at }, commands) => {
      const waiting = new Map([...at.state.jobs].map(([id, job]) => [id, job.cursor === 0 && job.requeued.size === 0]));
      const { facts } = at.step(...commands, { kind: 'Tick' });
      const placed = facts.flatMap((fact) => (fact.kind === 'AttemptPlaced' ? [at.job(fact.job)] : []));
      for (const job of at.state.jobs.values()) {
        if (waiting.get(job.id) !== true || job.elements.size > 0 || job.settings.array !== null) continue;
        for (const other of placed) {
          if (
            JSON.stringify([job.settings.nodes, job.settings.resources]) !==
            JSON.stringify([other.settings.nodes, other.settings.resources])
          )
            continue;
          expect(comesBefore(job, other)).toBe(false);
        }
      }
    });
  });

  it('moves jobs only as the table of moves says, fact by fact, and out of no terminal state [U1] [I13]', () => {
    walks(60, ({ at }, commands) => {
      const shadow = fromRecords(toRecords(at.state));
      const { facts } = at.step(...commands);
      for (const fact of facts) {
        const job = factSubject(fact).job ?? '';
        const from = stateIn(shadow, job);
        evolve(shadow, fact, contextAt(at.nowMs));
        const to = stateIn(shadow, job);
        if (from !== to && from !== null && to !== null) expect(jobMoves[from]).toContain(to);
      }
      const ended = facts.flatMap((fact) => (fact.kind === 'JobEnded' ? [fact.job] : []));
      expect(new Set(ended).size).toBe(ended.length);
    });
  });

  it('leaves every job running, or waiting for a stated reason, or held until its processes are gone [I27] [B10]', () => {
    walks(60, ({ at }, commands) => {
      at.step(...commands, { kind: 'Tick' });
      for (const job of at.state.jobs.values()) {
        const waits = whyWaiting(at.state, job, at.nowMs) !== null;
        const isHeld = [...at.state.derived.held].some((key) => key.startsWith(`${job.id}.`));
        const acts = [...job.elements.values()].some(
          (one) => one.kind === 'live' && one.tasks.some((task) => task.step !== 'ended'),
        );
        expect(job.outcome === null ? waits || acts : isHeld).toBe(true);
      }
    });
  });

  it('says nothing twice: what a node says in order adds no fact when it says it again [I28] [R4.29]', () => {
    walks(60, ({ at }, commands, _, made) => {
      at.step(...commands);
      if (made.kind !== 'report' || made.how !== 'next') return;
      for (const report of commands) {
        if (!isRefusal(decide(at.state, report, contextAt(at.nowMs)))) expect(at.step(report).facts).toEqual([]);
      }
    });
  });
});

function stateIn(state: State, id: string): JobState | null {
  const job = state.jobs.get(id);
  return job === undefined ? null : jobState(job);
}

function checkAllocations(each: Node): void {
  let cpus = 0;
  let memoryMiB = 0;
  const devices: string[] = [];
  for (const allocation of each.allocations.values()) {
    cpus += allocation.cpus;
    memoryMiB += allocation.memoryMiB;
    devices.push(...allocation.devices);
  }
  expect(cpus).toBeLessThanOrEqual(each.capacity.cpus);
  expect(memoryMiB).toBeLessThanOrEqual(each.capacity.memoryMiB);
  expect(new Set(devices).size).toBe(devices.length);
  const known = new Set(each.capacity.gpus.map((gpu) => gpu.uuid));
  expect(devices.every((device) => known.has(device))).toBe(true);
}

function checkCounts(job: Job): void {
  const kinds = [...job.elements.values()].map((one) => one.kind);
  expect(job.live).toBe(kinds.filter((kind) => kind === 'live').length);
  expect(job.completed + job.failed).toBe(kinds.filter((kind) => kind === 'ended').length);
  expect(job.requeued.size).toBe(kinds.filter((kind) => kind === 'pending').length);
}
