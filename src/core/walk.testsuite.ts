import fc from 'fast-check';
import type { Command } from './command.ts';
import type { TaskEvent } from './job/facts.ts';
import type { TaskKey } from './job/job.ts';
import type { Step } from './job/lifecycle.ts';
import { leaseTimes } from './node/lease-times.ts';
import { toRecords } from './records.ts';
import { gpus, joining, Scenario, submission } from './scenario.testsuite.ts';
import type { State } from './state.ts';

/** What a random walk does; keys and indices are drawn from what is there when it is done. */
export type Move =
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
  | { readonly kind: 'release' | 'hear'; readonly node: number }
  | { readonly kind: 'retry'; readonly job: number }
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
  [{ onNodeLoss: 'wait', retry: { maxAttempts: 2, onExit: [] } }, { outputs: ['out'] }],
  [{ onNodeLoss: 'fail', retry: { maxAttempts: 2, onExit: [] } }, {}],
  [{ resources: { labels: { zone: 'b' } } }, {}],
] as const;

/** Positions of the shapes that a lost node decides about. */
const silentShapes = [2, 4, 6, 9, 10] as const;

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
    { kind: 'NodeLost', message: 'gone', held: false },
    { kind: 'NodeLost', message: 'gone', held: true },
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
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('release' as const, 'hear' as const), node }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('retry' as const), job: small }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(0, 1000, 30_000, 90_000) }),
  },
);

/** What falls silent and comes back, and work of which there must never be two: rare among all moves. */
const silentMove: fc.Arbitrary<Move> = fc.oneof(
  fc.record({
    kind: fc.constant('submit' as const),
    shape: fc.constantFrom(...silentShapes),
    priority: fc.constant(0),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(30_000, 90_000) }),
  fc.record({ kind: fc.constantFrom('hear' as const, 'release' as const, 'remove' as const), node }),
  fc.record({ kind: fc.constant('join' as const), node, reboot: fc.constantFrom(false, false, true) }),
);

const nodeNames = ['n0', 'n1', 'n2', 'n3'];

/** A scenario that takes moves, and the commands that it made of them. */
export class Walk {
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
        // Those that join over the network are drained with a deadline.
        return [
          {
            kind: 'DrainNode',
            node: name(one.node),
            reason: 'work on it',
            by: 'ada',
            deadlineMs: isLeased(one.node) ? 60_000 : null,
          },
        ];
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
      case 'hear':
        this.at.leases.set(name(one.node), this.at.nowMs + leaseTimes.leaseMs);
        return [{ kind: 'NodeHeard', node: name(one.node), instance: this.at.instances.get(name(one.node)) ?? '' }];
      case 'retry':
        return [{ kind: 'RetryTask', job: this.#job(one.job), index: null, by: 'ada' }];
      case 'pass':
        this.at.nowMs += one.ms;
        return [{ kind: 'CheckLeases', nodes: nodeNames }, { kind: 'Tick' }];
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
      { bootId: reboot ? `boot-${this.#boots}` : known, leased: isLeased(position) },
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

function isLeased(position: number): boolean {
  return position > 0;
}

function keyOf(text: string): TaskKey {
  const [job = '', index, rank, attempt] = text.split('.');
  return { job, index: Number(index), rank: Number(rank), attempt: Number(attempt) };
}

export function liveTasks(state: State): readonly { key: TaskKey; node: string }[] {
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

export const recordsText = (state: State) => toRecords(state).join('\n');

/** The same with nodes that fall silent, and work that must never run twice. */
export function silentWalks(runs: number, check: (walk: Walk, commands: readonly Command[]) => void): void {
  const moves = fc.array(fc.oneof(move, silentMove), { minLength: 20, maxLength: 60, size: 'max' });
  fc.assert(
    fc.property(moves, (drawn) => {
      const walk = new Walk();
      for (const position of [0, 1, 2, 3])
        walk.at.step(...walk.commands({ kind: 'join', node: position, reboot: false }));
      for (const one of drawn) check(walk, walk.commands(one));
    }),
    { numRuns: runs },
  );
}

/** Runs a walk and calls `check` after every step. */
export function walks(
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
