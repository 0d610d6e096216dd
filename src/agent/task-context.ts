import type { BlobStore } from '../blobs/blob-store.ts';
import type { TaskEvent } from '../core/job/facts.ts';
import type { Order } from '../core/node/orders.ts';
import type { Host } from '../host/host.ts';
import type { Attempt } from './attempt.ts';
import type { DiskGuard } from './disk-guard.ts';
import type { ExitWatch } from './exit-watch.ts';
import type { LogSink } from './log-sink.ts';
import type { Ports } from './ports.ts';
import type { QuietLogs } from './quiet-logs.ts';
import type { Sealing } from './secrets/sealing.ts';
import type { SecretFiles } from './secrets/secret-files.ts';
import type { SetupShelf } from './setup-shelf.ts';
import type { StartJournal } from './start-journal.ts';

/** What the whole node shares. */
export interface NodeContext {
  readonly host: Host;
  readonly store: BlobStore;
  /** The node's own directory. */
  readonly directory: string;
  readonly node: string;
  readonly advertise: string;
  /** The agent's environment, of which tasks get a clean part. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly exitWatch: ExitWatch;
  readonly quietLogs: QuietLogs;
  readonly ports: Ports;
  readonly diskGuard: DiskGuard;
  readonly setupShelf: SetupShelf;
  readonly startJournal: StartJournal;
  readonly bell: string;
  /** Null where logs are read from this very disk. */
  readonly logs: LogSink | null;
  /** Opens what is sealed to this node; null where it has no key. */
  readonly sealing: Sealing | null;
  readonly secretFiles: SecretFiles;
}

/** What one step of one attempt works with. */
export interface TaskContext extends NodeContext {
  readonly attempt: Attempt;
  readonly order: Order;
  /** The sealed secrets of the task as they stand now: they may be set anew while a step lasts. */
  readonly boxes: () => Readonly<Record<string, string>>;
  /** Port of the task, or null when it asks for none. */
  readonly port: number | null;
  /** This agent made the attempt's directory and has not begun with this step before: no records of it can exist. */
  readonly isFresh: boolean;
  /** Aborted when another step is ordered: the step lets go and returns null; processes are not touched. */
  readonly signal: AbortSignal;
  /** Reports something before the step ends. */
  readonly tell: (event: TaskEvent) => void;
  /** Takes another port in place of the present one, which a stranger holds, and returns it. */
  readonly movePort: () => Promise<number>;
  /** Begins to end the whole process tree; asked again with a shorter grace, it hurries. */
  readonly stop: (graceMs: number) => Promise<'gone' | 'unkillable'>;
}

/** A step does its work and returns what happened; null when it let go. Done again after a crash, it does no harm. */
export type StepWork = (context: TaskContext) => Promise<TaskEvent | null>;
