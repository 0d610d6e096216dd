import fc from 'fast-check';
import type { Command } from '../command.ts';
import type { TaskEvent } from '../job/facts.ts';
import { parseTaskKey } from '../job/job.ts';
import { leaseTimes } from '../node/lease-times.ts';
import type { PartialSettings } from '../profile/settings.ts';
import { collected, exited, joining } from '../scenario.testsuite.ts';
import { applying, ServiceScenario } from './service-scenario.testsuite.ts';

/** What a random walk of services does; replicas and nodes are drawn from what is there when it is done. */
export type ServiceMove =
  | { readonly kind: 'apply'; readonly version: number; readonly how: number; readonly replicas: number | null }
  | { readonly kind: 'scale'; readonly desired: number; readonly remove: number | null }
  | { readonly kind: 'say'; readonly what: Said }
  | { readonly kind: 'undo'; readonly to: number | null }
  | { readonly kind: 'stop-one'; readonly replica: number }
  | { readonly kind: 'tell'; readonly replica: number; readonly what: keyof typeof tales }
  | { readonly kind: 'settle' }
  | { readonly kind: 'reboot' | 'leave' | 'release' | 'lose' | 'hear' | 'drain' | 'resume'; readonly node: number }
  | { readonly kind: 'pass'; readonly ms: number };

type Said = 'RestartService' | 'StopService' | 'RemoveService' | 'PauseRollout' | 'ResumeRollout';

/** How services are run: bounds, policies, spread, loss of nodes, replicas that span nodes. */
export const ways: readonly PartialSettings[] = [
  {},
  { rollout: { maxSurge: 0, maxUnavailable: 1, minReadyMs: 0 } },
  { rollout: { maxSurge: 2, maxUnavailable: 1, progressDeadlineMs: 20_000, onFailure: 'rollback' } },
  { restart: { policy: 'on-failure', onGiveUp: 'requeue' }, rollout: { progressDeadlineMs: 20_000 } },
  { spread: 'strict', onNodeLoss: 'wait', rollout: { maxSurge: 1, progressDeadlineMs: 20_000 } },
  { onNodeLoss: 'fail', restart: { policy: 'never' }, resources: { cpus: 20 } },
  { nodes: 2, rollout: { progressDeadlineMs: 20_000, minReadyMs: 0 } },
];

const ready: TaskEvent = { kind: 'ReadinessChanged', ready: true, reason: null };

/** What a replica's node may say of it, in order. */
const tales = {
  ready: [{ kind: 'JobStarted', port: 4000 }, { kind: 'EndpointOpened', endpoint: '10.0.0.1:4000' }, ready],
  unready: [{ kind: 'ReadinessChanged', ready: false, reason: '503' }],
  restarted: [{ kind: 'Restarted', restarts: 1, lastFailure: 'exited with code 1' }],
  'exited well': [exited(0), collected],
  'exited badly': [exited(1), collected],
  'gave up': [{ kind: 'GaveUp', message: 'failed 3 times in a row' }, collected],
  fault: [{ kind: 'NodeFault', message: 'its disk failed', held: false }],
  unkillable: [{ kind: 'NodeFault', message: 'cannot be killed', held: true }],
} as const satisfies Record<string, readonly TaskEvent[]>;

const nodeNames = ['n1', 'n2', 'n3'];
const small = fc.nat({ max: 9 });
const anyNode = fc.nat({ max: nodeNames.length - 1 });

function weighed<Kind extends ServiceMove>(weight: number, fields: Record<string, fc.Arbitrary<unknown>>) {
  return { weight, arbitrary: fc.record(fields) as unknown as fc.Arbitrary<Kind> };
}

const move: fc.Arbitrary<ServiceMove> = fc.oneof(
  weighed<ServiceMove>(4, {
    kind: fc.constant('apply'),
    version: fc.nat({ max: 2 }),
    how: fc.nat({ max: ways.length - 1 }),
    replicas: fc.option(fc.nat({ max: 5 })),
  }),
  weighed<ServiceMove>(2, {
    kind: fc.constant('scale'),
    desired: fc.nat({ max: 6 }),
    remove: fc.option(small, { freq: 2 }),
  }),
  weighed<ServiceMove>(3, {
    kind: fc.constant('say'),
    what: fc.constantFrom<Said>(
      'RestartService',
      'StopService',
      'RemoveService',
      'PauseRollout',
      'PauseRollout',
      'ResumeRollout',
      'ResumeRollout',
    ),
  }),
  weighed<ServiceMove>(2, { kind: fc.constant('undo'), to: fc.option(fc.integer({ min: 1, max: 4 })) }),
  weighed<ServiceMove>(1, { kind: fc.constant('stop-one'), replica: small }),
  weighed<ServiceMove>(20, {
    kind: fc.constant('tell'),
    replica: small,
    what: fc.constantFrom(...(['ready', 'ready', 'ready', ...Object.keys(tales)] as (keyof typeof tales)[])),
  }),
  weighed<ServiceMove>(5, { kind: fc.constant('settle') }),
  weighed<ServiceMove>(5, {
    kind: fc.constantFrom('reboot', 'leave', 'release', 'lose', 'lose', 'hear', 'drain', 'resume'),
    node: anyNode,
  }),
  weighed<ServiceMove>(8, { kind: fc.constant('pass'), ms: fc.constantFrom(0, 500, 2000, 5000, 20_000, 60_000) }),
);

/** A scenario of one service that takes moves, and the commands that it makes of them. */
export class ServiceWalk {
  readonly at = new ServiceScenario();
  #boots = 1;

  constructor() {
    for (const node of nodeNames) this.at.step(this.join(node, 'boot-1'));
  }

  commands(one: ServiceMove): readonly Command[] {
    const by = 'ada';
    switch (one.kind) {
      case 'apply': {
        const values = { ...ways[one.how], ...(one.replicas === null ? {} : { replicas: one.replicas }) };
        return [applying(values, { run: `serve v${one.version}` })];
      }
      case 'scale': {
        const chosen = one.remove === null ? undefined : this.#replica(one.remove);
        const remove = chosen === undefined ? [] : [chosen];
        return [{ kind: 'ScaleService', service: 'llm', desired: one.desired, remove, by }];
      }
      case 'say':
        return [{ kind: one.what, service: 'llm', by }];
      case 'undo':
        return [{ kind: 'UndoRollout', service: 'llm', to: one.to, by }];
      case 'stop-one':
        return [{ kind: 'StopJob', job: this.#replica(one.replica) ?? 'llm-0', indices: null, by, graceMs: null }];
      case 'tell':
        return this.told(this.#replica(one.replica), tales[one.what]);
      case 'settle':
        return [...this.at.state.jobs.values()].flatMap((job) => {
          const element = job.elements.get(0);
          const ends = element?.kind === 'live' && element.verdict !== null;
          return ends ? this.told(job.id, [collected]) : [];
        });
      case 'reboot':
        this.#boots += 1;
        return [this.join(nodeNames[one.node] ?? '', `boot-${this.#boots}`)];
      case 'leave':
        return [this.#leave(nodeNames[one.node] ?? '')];
      case 'release':
        return [this.released(nodeNames[one.node] ?? '')];
      case 'lose':
        return this.#lose(nodeNames[one.node] ?? '');
      case 'hear':
        return [this.#hear(nodeNames[one.node] ?? '')];
      case 'drain':
        return [{ kind: 'DrainNode', node: nodeNames[one.node] ?? '', reason: 'work on it', by, deadlineMs: 30_000 }];
      case 'resume':
        return [{ kind: 'ResumeNode', node: nodeNames[one.node] ?? '', by }];
      case 'pass':
        this.at.nowMs += one.ms;
        return [{ kind: 'Tick' }];
    }
  }

  /** Brings what is broken back: nodes join and take work, held processes are gone, what stops has stopped, all else is ready. */
  heal(): void {
    for (const node of nodeNames) {
      this.at.step(this.join(node, this.at.state.nodes.get(node)?.bootId ?? 'boot-1'));
      this.at.step({ kind: 'ResumeNode', node, by: 'ada' }, this.released(node));
    }
    for (let round = 0; round < 40; round += 1) {
      this.at.step(...this.commands({ kind: 'settle' }));
      for (const id of this.at.state.services.get('llm')?.replicas.keys() ?? []) this.bringUp(id);
      this.at.pass(10_000);
    }
  }

  bringUp(id: string): void {
    const tasks = this.at.job(id).elements.get(0)?.kind === 'live' ? this.at.live(id).tasks : [];
    if (tasks.some((task) => task.step === 'prepare')) this.at.step(...this.told(id, [prepared]));
    if (tasks.some((task) => task.step === 'run')) this.at.step(...this.told(id, tales.ready));
  }

  /** The same events of every task of a replica, as their nodes would tell them. */
  told(id: string | undefined, events: readonly TaskEvent[]): readonly Command[] {
    const element = id === undefined ? undefined : this.at.state.jobs.get(id)?.elements.get(0);
    if (id === undefined || element?.kind !== 'live') return [];
    return element.tasks.map((task) => {
      const key = { job: id, index: 0, rank: task.rank, attempt: element.attempt };
      const first = task.step === 'prepare' ? [prepared] : [];
      return this.at.reportOf(
        task.node,
        [...first, ...events].map((event) => ({ ...key, ...event })),
      );
    });
  }

  join(node: string, bootId: string): Command {
    const instance = `${node}-${this.at.facts.length}-${this.at.nowMs}`;
    this.at.instances.set(node, instance);
    return joining(node, instance, { cpus: 64 }, { bootId, leased: true });
  }

  released(node: string): Command {
    const keys = [...(this.at.state.nodes.get(node)?.allocations.keys() ?? [])].flatMap((text) => {
      const key = parseTaskKey(text);
      return key === null ? [] : [key];
    });
    return this.at.reportOf(node, [], keys);
  }

  /** Lease and grace are over: it is suspect with the first look, and lost with the second. */
  #lose(node: string): readonly Command[] {
    this.at.leases.set(node, this.at.nowMs - leaseTimes.graceMs);
    const look: Command = { kind: 'CheckLeases', nodes: [node] };
    return [look, look];
  }

  #hear(node: string): Command {
    this.at.leases.set(node, this.at.nowMs + leaseTimes.leaseMs);
    return { kind: 'NodeHeard', node, instance: this.at.instances.get(node) ?? '' };
  }

  #leave(node: string): Command {
    return { kind: 'LeaveNode', node, instance: this.at.instances.get(node) ?? '' };
  }

  #replica(drawn: number): string | undefined {
    const ids = [...(this.at.state.services.get('llm')?.replicas.keys() ?? [])];
    return ids[drawn % Math.max(1, ids.length)];
  }
}

const prepared: TaskEvent = { kind: 'TaskPrepared', address: '10.0.0.1', port: 4000 };

/** Runs walks that begin with a service applied, and calls `check` with the commands of each move. */
export function serviceWalks(
  runs: number,
  check: (walk: ServiceWalk, commands: readonly Command[]) => void,
  atEnd: (walk: ServiceWalk) => void = () => undefined,
): void {
  fc.assert(
    fc.property(fc.array(move, { minLength: 5, maxLength: 60 }), (moves) => {
      const walk = new ServiceWalk();
      walk.at.apply({ replicas: 2 });
      for (const one of moves) check(walk, walk.commands(one));
      atEnd(walk);
    }),
    { numRuns: runs },
  );
}
