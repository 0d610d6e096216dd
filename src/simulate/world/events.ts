import type { Fact } from '../../core/fact.ts';
import type { State } from '../../core/state.ts';
import type { Draws } from '../draw.ts';
import type { Plan } from '../plan.ts';
import type { Stream } from './arrivals.ts';
import type { Cluster, VirtualNode } from './cluster.ts';
import type { Process } from './processes.ts';

/** What happens by itself in a simulated world. */
export type Event = WorkEvent | NodeEvent | { readonly kind: 'tick' };

/**
 * Whether the simulation waits for it before it ends: work that comes or ends it does, a node that comes back only where
 * that may let something go on, and failures, of which there is no end, never.
 */
export type Awaited = 'yes' | 'while-work-waits' | 'no';

export type WorkEvent =
  | { readonly kind: 'arrival'; readonly stream: Stream }
  /** Null code: the timeout of the attempt. */
  | { readonly kind: 'exit'; readonly process: Process; readonly code: number | null }
  | { readonly kind: 'restart'; readonly process: Process };

export type NodeEvent =
  | { readonly kind: 'group-comes'; readonly group: number }
  | { readonly kind: 'group-goes'; readonly group: number }
  | { readonly kind: 'failure'; readonly node: VirtualNode; readonly boot: number }
  /** Its lease has ended, or its grace. */
  | { readonly kind: 'missed'; readonly node: VirtualNode; readonly boot: number }
  | { readonly kind: 'repair'; readonly node: VirtualNode };

/** Whoever keeps figures. */
export interface Watcher {
  /** Time goes on to there; nothing happened in between. */
  pass(toMs: number): void;
  /** What became true now. */
  note(facts: readonly Fact[]): void;
  /** All that happens at this time has. */
  settle(state: State): void;
  /** A node is there from now on, or is not. */
  capacity(node: VirtualNode, isThere: boolean): void;
}

/** What every part of a simulated world works with. */
export interface Parts {
  readonly plan: Plan;
  readonly state: State;
  readonly cluster: Cluster;
  readonly draws: Draws;
  readonly watcher: Watcher;
  readonly add: (atMs: number, event: Event, awaited: Awaited) => void;
}
