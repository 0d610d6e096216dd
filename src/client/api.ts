import type { TaskKey } from '../core/job/job.ts';
import type { JobState } from '../core/job/lifecycle.ts';
import type { JobView, OutputView } from '../core/job/view.ts';
import type { NodeView } from '../core/node/view.ts';
import type { Waiting } from '../core/reason.ts';
import type { Submission } from '../wire/submission.ts';
import type { Projects, Tokens, UsageQuery, UsageView, WhoView } from './access-api.ts';
import type { ExecOptions, ExecSession } from './exec-api.ts';
import type { Secrets } from './secret-api.ts';
import type { Services } from './service-api.ts';

export type * from './access-api.ts';
export type * from './exec-api.ts';
export type * from './secret-api.ts';
export type * from './service-api.ts';

/**
 * The SDK: one typed client, whoever holds the control plane. The CLI uses nothing else.
 * What was refused is thrown as a RefusalError (client/refusal-error.ts) with the code, message, hint and path of the core's refusal.
 */
export interface RunyardClient {
  readonly jobs: Jobs;
  readonly nodes: Nodes;
  readonly profiles: Profiles;
  readonly services: Services;
  readonly projects: Projects;
  readonly tokens: Tokens;
  readonly secrets: Secrets;
  /** Home directory, absolute. */
  readonly home: string;
  /** URL of the server that holds the control plane; null where this process does. */
  readonly server: string | null;
  /** Facts as people and scripts read them, oldest first (S10). */
  events(options?: EventFilter): AsyncIterable<EventView>;
  whoAmI(): Promise<WhoView>;
  /** GPU and core time of the projects that one may see, in whole days, UTC; what runs counts until now (X21). */
  usage(options?: UsageQuery): Promise<UsageView>;
  prune(options: { readonly olderThanMs: number }): Promise<PruneReport>;
  /** Whatever still waits or follows is thrown out of it. A node that was started here is closed by itself, before. */
  close(): Promise<void>;
}

export interface EventFilter {
  readonly job?: string;
  /** Those of a service, and of the jobs that are its replicas. */
  readonly service?: string;
  /** Only what people did, and what was refused to them. */
  readonly audit?: boolean;
  readonly follow?: boolean;
  readonly signal?: AbortSignal;
}

/** One fact of the log. */
export interface EventView {
  readonly seq: number;
  readonly at: string;
  readonly kind: string;
  /** The user who asked for it; null for what followed by rule or was told by a node. */
  readonly by: string | null;
  readonly job: string | null;
  readonly node: string | null;
  readonly service: string | null;
  /** One line for a person. */
  readonly message: string;
  /** The fact as it is. */
  readonly fact: unknown;
}

export interface PruneReport {
  readonly jobs: number;
  readonly blobs: number;
  readonly attempts: number;
  readonly freedBytes: number;
}

/** How a workspace travels. */
export interface PushOptions {
  /** Directory that `workspace.workdir` is relative to: the file's, or the current one. */
  readonly baseDirectory: string;
  /** Stops a push above 1 GiB or 100,000 files. */
  readonly limitWorkspace?: boolean;
  /** Landing folder, never pushed. */
  readonly landing?: string;
  readonly onPush?: (progress: PushProgress) => void;
}

export interface SubmitOptions extends PushOptions {
  readonly idempotencyKey?: string;
  readonly retryOf?: string;
  readonly indices?: readonly number[];
  /** The workspace of this earlier job, byte for byte, instead of the directory (`--from`, retry). */
  readonly workspaceOf?: string;
  readonly project?: string;
}

export interface PushProgress {
  readonly phase: 'walking' | 'pushing' | 'done';
  readonly files: number;
  readonly bytes: number;
  /** Share of the bytes that have been handled, 0 to 1. */
  readonly fraction: number;
  readonly sentBytes: number;
}

export interface Jobs {
  /** Pushes the workspace where there is one, then submits. Plain objects in the form of a file are taken too. */
  submit(submission: Submission | SubmissionDocument, options?: Partial<SubmitOptions>): Promise<JobHandle>;
  /** What the submission would become, and whether and where it fits, or the refusal it would meet; nothing is submitted. */
  preview(submission: Submission | SubmissionDocument, options?: { readonly project?: string }): Promise<Preview>;
  /** By id, unique prefix, or name (its latest); `ID/N` addresses one part. */
  get(reference: string): Promise<JobHandle>;
  list(filter?: JobFilter): Promise<readonly JobView[]>;
}

/** A job file as an object: `{ job: { name, run, … }, profile?: name or { … } }`. */
export interface SubmissionDocument {
  readonly job: Readonly<Record<string, unknown>>;
  readonly profile?: string | Readonly<Record<string, unknown>>;
}

export interface JobFilter {
  /** Ended ones too, newest first; otherwise what is alive and what ended within the last hour. */
  readonly all?: boolean;
  readonly state?: JobState;
  readonly owner?: string;
  readonly project?: string;
  readonly limit?: number;
}

export interface Preview {
  readonly settings: readonly SettingView[];
  readonly spec: unknown;
  /** Where it would go; null when it would wait, and then why. */
  readonly node: string | null;
  readonly waiting: Waiting | null;
}

/** One effective value and where it came from (X33). */
export interface SettingView {
  readonly key: string;
  /** As it is written in a file. */
  readonly value: string;
  readonly origin: string;
}

export interface LogOptions {
  readonly follow?: boolean;
  readonly step?: 'setup' | 'run';
  /** Default: the latest. */
  readonly attempt?: number;
  /** Only the last lines. */
  readonly tail?: number;
  /** Only what was written after, wall clock. */
  readonly sinceMs?: number;
  readonly signal?: AbortSignal;
}

/** A piece of output, whole lines where possible. */
export interface LogChunk {
  readonly task: TaskKey;
  readonly step: 'setup' | 'run';
  readonly stream: 'stdout' | 'stderr';
  /** When it was seen, wall clock, to about 0.2 s. */
  readonly atMs: number;
  readonly text: string;
  /** Raw bytes of `text`. */
  readonly bytes: Uint8Array;
}

export interface JobHandle {
  readonly id: string;
  /** The part addressed by `ID/N`; null for the whole. */
  readonly part: number | null;
  view(): Promise<JobView>;
  /** The state now, and again after each change, until it has ended. */
  watch(options?: { readonly signal?: AbortSignal }): AsyncIterable<JobView>;
  /** The job once it has ended; as it is, ended or not, when the signal aborts. */
  wait(options?: { readonly signal?: AbortSignal }): Promise<JobView>;
  /** Text of stdout and stderr, interleaved as it was written. */
  logs(options?: LogOptions): AsyncIterable<string>;
  logChunks(options?: LogOptions): AsyncIterable<LogChunk>;
  stop(options?: { readonly graceMs?: number }): Promise<void>;
  /** Ends a job that no node can ever run. */
  failUnschedulable(message: string): Promise<void>;
  /**
   * A new job with the same spec and bytes; with `failed`, only the failed indices of an array. Of one that waits for its
   * lost node, the next attempt: the same job.
   */
  retry(options?: { readonly failed?: boolean }): Promise<JobHandle>;
  /** Lands outputs under `to` and says what was landed; of a live job what there is so far. */
  land(options: { readonly to: string; readonly paths?: readonly string[] }): Promise<readonly LandedOutput[]>;
  /** Declared outputs with what became of them; of a live job what there is so far. */
  outputs(): Promise<readonly OutputView[]>;
  explain(): Promise<Explanation>;
  /** Why it has its node and yet does not start there, where that is known; otherwise null. */
  heldUp(): Promise<string | null>;
  /** Runs a command beside the task: same directory and environment (`yard exec`). */
  exec(options: ExecOptions): Promise<ExecSession>;
}

export interface LandedOutput extends OutputView {
  /** Where it landed, absolute; null when there was nothing to land. */
  readonly landedAt: string | null;
}

export interface Explanation {
  readonly sentence: string;
  readonly settings: readonly SettingView[];
}

export type ListedNode = NodeView & {
  readonly agentRunning: boolean;
  /** When it last gave a sign of life; null where that is not known, or not asked of it. */
  readonly heardAt: string | null;
};

export interface Nodes {
  list(): Promise<readonly ListedNode[]>;
  get(name: string): Promise<ListedNode>;
  /** No new work; with a deadline, in milliseconds from now, replicas move away and what is left then is stopped. */
  drain(name: string, options?: { readonly reason?: string; readonly deadlineMs?: number }): Promise<void>;
  resume(name: string): Promise<void>;
  /** Forgets a node that is gone. One that is only silent is declared lost, and forgotten when this is asked again. */
  remove(name: string): Promise<void>;
  /** True when some process serves the node name right now. */
  isRunning(name: string): Promise<boolean>;
  /** The name a node of this machine has unless it is told otherwise. */
  defaultName(): string;
  /** Serves a node in this process; null when another process already does. */
  start(options?: NodeOptions): Promise<RunningNode | null>;
}

export interface NodeOptions {
  /** Default: the host's name. */
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly cpus?: number;
  readonly memoryMiB?: number;
  readonly gpus?: number;
  readonly advertise?: string;
  /** Waits for the name to become free. */
  readonly wait?: boolean;
  readonly signal?: AbortSignal;
}

export interface RunningNode {
  readonly name: string;
  /** Why it offers no GPU though there may be some: what was wrong with `nvidia-smi`. Null when all is well. */
  readonly gpuProblem: string | null;
  /** Tasks on it, alive. */
  liveTasks(): readonly TaskKey[];
  /**
   * Ends what runs of a job here, though nothing says so in the log: for whoever wants a job stopped and finds the log's
   * disk full. Follows no more orders for it. Resolves with false when something of it could not be killed.
   */
  endTasks(job: string, options: { readonly graceMs: number }): Promise<boolean>;
  /** Ends the agent; what runs goes on, and the next agent adopts it. */
  close(): Promise<void>;
  /** Resolves when the agent has ended by itself, with the fault that ended it. */
  readonly failed: Promise<Error>;
}

export interface Profiles {
  list(): Promise<readonly { readonly name: string; readonly revision: number; readonly source: unknown }[]>;
  apply(document: unknown): Promise<{ readonly revision: number; readonly changed: boolean }>;
}
