import type { Fact } from '../../core/fact.ts';
import { findTask, type Task, taskKeyText } from '../../core/job/job.ts';
import { leaseTimes } from '../../core/node/lease-times.ts';
import type { State } from '../../core/state.ts';
import type { Hearing } from '../served/hearing.ts';
import type { Checker } from './checker.ts';

/** What a server may conclude of a node's silence, held against whom it truly heard. */
export const leaseCheckers: readonly Checker[] = [
  {
    id: 'I16',
    says: 'no node is missed or lost before its lease is over, nor for an outage of the server itself',
    open: ({ hearing }, report) => {
      const signs = new Signs(hearing);
      return {
        beforeFact: (fact, state, { nowMs, seq }) => {
          if (fact.kind === 'NodeJoined') signs.joined(fact.node, nowMs);
          if (fact.kind === 'LossReleased') signs.released(state, nowMs);
          const isLoss = fact.kind === 'NodeDeclaredLost' && fact.by === null;
          if (hearing === null || (!isLoss && fact.kind !== 'NodeSuspected')) return;
          const node = state.nodes.get(fact.node);
          if (node === undefined) return;
          const leaseEndMs = signs.leaseEndMs(fact.node, node.instance, nowMs);
          const dueMs = isLoss ? signs.lossDueMs(fact.node, leaseEndMs) : leaseEndMs;
          if (nowMs < dueMs)
            report(`${fact.kind} of ${fact.node} in fact ${seq}, ${Math.round(dueMs - nowMs)} ms early`);
        },
      };
    },
  },
  {
    id: 'X12',
    says: 'no node is lost while many are silent together',
    open: ({ hearing }, report) => ({
      beforeFact: (fact, state, { seq }) => {
        if (hearing === null || fact.kind !== 'NodeDeclaredLost' || fact.by !== null) return;
        const counted = [...state.nodes.values()].filter(
          ({ leased, presence: { kind } }) => leased && (kind === 'up' || kind === 'suspect'),
        );
        const silent = counted.filter(({ presence: { kind } }) => kind === 'suspect').length;
        if (silent >= 3 && silent * 4 >= counted.length) {
          report(`${fact.node} was lost in fact ${seq}, with ${silent} of ${counted.length} silent`);
        }
      },
    }),
  },
  {
    id: 'X12',
    says: 'a node that is silent, gone or drained is given no work',
    open: (_history, report) => ({
      beforeFact: (fact, state, { seq }) => {
        if (fact.kind !== 'AttemptPlaced') return;
        for (const { node: name } of fact.tasks) {
          const node = state.nodes.get(name);
          if (node?.presence.kind === 'up' && node.drain === null) continue;
          report(`${fact.job}.${fact.index}.${fact.attempt} was placed on ${name} in fact ${seq}`);
        }
      },
    }),
  },
  {
    id: 'I14',
    says: 'an agent that another has replaced does not speak for the node again',
    open: (_history, report) => {
      const speakers = new Map<string, string[]>();
      return {
        beforeFact: (fact, _state, { seq }) => {
          if (fact.kind === 'NodeRemoved') speakers.delete(fact.node);
          if (fact.kind !== 'NodeJoined') return;
          const known = speakers.get(fact.node) ?? [];
          if (known.slice(0, -1).includes(fact.instance)) report(`${fact.instance} of ${fact.node} in fact ${seq}`);
          if (!known.includes(fact.instance)) speakers.set(fact.node, [...known, fact.instance]);
        },
      };
    },
  },
  {
    id: 'I27',
    says: 'what is due at a server happens',
    open: ({ overdue }, report) => ({
      finish: () => {
        for (const problem of overdue) report(problem);
      },
    }),
  },
  {
    id: 'I28',
    says: 'nothing is said that is not news',
    open: (_history, report) => ({
      beforeFact: (fact, state, { seq }) => {
        const what = repeats(fact, state);
        if (what !== null) report(`${fact.kind} of ${what} in fact ${seq}`);
      },
    }),
  },
];

/** Whom a fact is about that says what stood so already; null when it is news. */
function repeats(fact: Fact, state: State): string | null {
  if ('rank' in fact) return isKnown(fact, findTask(state.jobs.get(fact.job), fact)?.task) ? taskKeyText(fact) : null;
  if (!('node' in fact) || typeof fact.node !== 'string') return null;
  const node = state.nodes.get(fact.node);
  if (node === undefined) return null;
  switch (fact.kind) {
    case 'NodeJoined':
      return node.presence.kind === 'up' && node.instance === fact.instance && isSame(fact, node) ? node.name : null;
    case 'NodeSuspected':
      return node.presence.kind === 'up' ? null : node.name;
    case 'NodeResponded':
      return node.presence.kind === 'up' || node.presence.kind === 'down' ? node.name : null;
    case 'NodeDeclaredLost':
      return node.presence.kind === 'lost' ? node.name : null;
    default:
      return null;
  }
}

/** A task stands so already. */
function isKnown(fact: Fact, task: Task | undefined): boolean {
  switch (fact.kind) {
    case 'JobStarted':
      return task?.started === true;
    case 'EndpointOpened':
      return task?.endpoint === fact.endpoint;
    case 'ReadinessChanged':
      return task?.ready === fact.ready && (fact.ready || task.notReady === fact.reason);
    default:
      return false;
  }
}

interface JoinedAs {
  readonly bootId: string;
  readonly capacity: unknown;
  readonly publicKey?: string | null;
  readonly secrets?: readonly string[];
}

function isSame(fact: JoinedAs, node: JoinedAs): boolean {
  const told = [fact, node].map(({ bootId, capacity, publicKey = null, secrets = [] }) =>
    JSON.stringify([bootId, capacity, publicKey, secrets]),
  );
  return told[0] === told[1];
}

/** Heard, and the lease not renewed yet: heartbeats are written down together. */
const unwrittenMs = 8000;
const roundingMs = 5;

/** Signs of life by node, in the order of the log. */
class Signs {
  readonly #hearing: Hearing | null;
  readonly #joinedMs = new Map<string, number>();
  readonly #releasedMs = new Map<string, number>();

  constructor(hearing: Hearing | null) {
    this.#hearing = hearing;
  }

  joined(node: string, atMs: number): void {
    this.#joinedMs.set(node, atMs);
  }

  /** Those who are still silent as others come back get their whole grace again. */
  released({ nodes }: State, atMs: number): void {
    for (const { name, presence } of nodes.values()) if (presence.kind === 'suspect') this.#releasedMs.set(name, atMs);
  }

  /** When the lease ends at the earliest, as seen from `nowMs`. */
  leaseEndMs(node: string, instance: string, nowMs: number): number {
    const { leaseMs, afterOutageMs } = leaseTimes;
    const heards = this.#hearing?.heards ?? [];
    const heard = heards.findLast(
      (one) => one.node === node && one.instance === instance && one.atMs <= nowMs - unwrittenMs,
    );
    const signMs = Math.max(heard?.atMs ?? -Infinity, this.#joinedMs.get(node) ?? -Infinity);
    const beganMs = this.#hearing?.begins.findLast((atMs) => atMs <= nowMs) ?? -Infinity;
    return (beganMs > signMs ? beganMs - unwrittenMs + afterOutageMs : signMs + leaseMs) - roundingMs;
  }

  lossDueMs(node: string, leaseEndMs: number): number {
    const { graceMs } = leaseTimes;
    return Math.max(leaseEndMs, (this.#releasedMs.get(node) ?? -Infinity) - roundingMs) + graceMs;
  }
}
