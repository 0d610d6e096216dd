import type { ServiceView } from '../core/service/view.ts';
import type { Submission } from '../wire/submission.ts';
import type { EventView, Explanation, LogChunk, LogOptions, PushOptions } from './api.ts';

/** Named objects that keep replicas alive (X20). */
export interface Services {
  /** Pushes the workspace where there is one, then makes it so. Plain objects in the form of a file are taken too. */
  apply(service: Submission | ServiceDocument, options?: Partial<ApplyOptions>): Promise<AppliedService>;
  list(): Promise<readonly ServiceView[]>;
  get(name: string): Promise<ServiceHandle>;
}

/** A service file as an object: `{ service: { name, run, … }, profile?: name or { … } }`. */
export interface ServiceDocument {
  readonly service: Readonly<Record<string, unknown>>;
  readonly profile?: string | Readonly<Record<string, unknown>>;
}

export interface ApplyOptions extends PushOptions {
  readonly idempotencyKey?: string;
  readonly project?: string;
}

export interface AppliedService {
  readonly name: string;
  readonly revision: number;
  /** False where nothing was different. */
  readonly changed: boolean;
}

export interface ServiceHandle {
  readonly name: string;
  view(): Promise<ServiceView>;
  /**
   * The service now, again after each change, and every second while a rollout or another change is under way; ends
   * when the service is removed or the signal aborts.
   */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterable<ServiceView>;
  /** `remove` names replicas that go first. */
  scale(desired: number, options?: { readonly remove?: readonly string[] }): Promise<void>;
  /** Replaces every replica, one after the other; a new revision that differs in nothing. */
  restart(): Promise<AppliedService>;
  /** Ends every replica and keeps the service; applying it again starts it. */
  stop(): Promise<void>;
  /** Ends every replica and forgets the service. */
  remove(): Promise<void>;
  pauseRollout(): Promise<void>;
  resumeRollout(): Promise<void>;
  /** Back to the revision before, or to the one named. */
  undoRollout(options?: { readonly to?: number }): Promise<void>;
  revisions(): Promise<readonly RevisionView[]>;
  /** What all replicas print, each line behind the id of the replica: `llm-k3f9q2  ready`. */
  logs(options?: LogOptions): AsyncIterable<string>;
  /** What all replicas print; `task.job` of each piece is its replica. Those that come while it follows are followed too. */
  logChunks(options?: LogOptions): AsyncIterable<LogChunk>;
  /** Facts about the service and its replicas, oldest first. */
  events(options?: { readonly follow?: boolean; readonly signal?: AbortSignal }): AsyncIterable<EventView>;
  explain(): Promise<Explanation>;
}

/** What the replicas ran or run on. */
export interface RevisionView {
  readonly revision: number;
  /** The one that is wanted now. */
  readonly current: boolean;
  readonly profile: string | null;
  /** Replicas that run on it. */
  readonly replicas: number;
  readonly spec: unknown;
}
