import { type Attempt, attemptOf, endedDirectory } from '../../../agent/attempt.ts';
import { readLog } from '../../../agent/log-reader.ts';
import type { LogSink } from '../../../agent/log-sink.ts';
import { parseTaskKey } from '../../../core/job/job.ts';
import { sleep } from '../../../host/clock.ts';
import type { Host } from '../../../host/host.ts';
import { RefusalError } from '../../refusal-error.ts';

/** One log of an attempt. `times` is the index by which the two streams are put in order. */
interface LogFile {
  readonly label: 'setup' | 'run';
  readonly stream: 'out' | 'err' | 'times';
}

/** Times come last: they speak of bytes that are there by then. */
const logFiles: readonly LogFile[] = (['setup', 'run'] as const).flatMap((label) =>
  (['out', 'err', 'times'] as const).map((stream) => ({ label, stream })),
);

export interface LogPiece {
  readonly task: string;
  readonly file: string;
  readonly offset: number;
  /** What was dropped here before it could be pushed begins at this offset; null for nothing. */
  readonly droppedFrom: number | null;
  readonly bytes: Uint8Array;
}

export interface LogPusherOptions {
  readonly host: Pick<Host, 'files' | 'timers'>;
  /** The node's own directory. */
  readonly directory: string;
  readonly node: string;
  /** Brings a piece to the server, which says how much it has by then. Throws a RefusalError where it will not have it. */
  readonly push: (piece: LogPiece) => Promise<{ readonly sizeBytes: number; readonly full: boolean }>;
}

export const pieceBytes = 256 * 1024;
/** What is written within this goes together. */
const gatherMs = 50;
/** A server that takes no logs may hold up the end of a task for so long, and no longer. */
const flushWithinMs = 30_000;
const againMs = 2000;
const pushesAtOnce = 4;
/** Pushed and put aside: this marks an attempt of which nothing is left to bring. */
const pushedMark = 'pushed';

/** Brings the logs of this node's attempts to the server while they are written, a bounded piece at a time. */
export class LogPusher implements LogSink {
  readonly #options: LogPusherOptions;
  readonly #tails = new Map<string, Tail>();
  readonly #closed = new AbortController();
  readonly #turns = createTurns(pushesAtOnce);

  constructor(options: LogPusherOptions) {
    this.#options = options;
  }

  open(attempt: Attempt, isFresh: boolean): void {
    if (this.#tails.has(attempt.name)) return;
    const tail = this.#newTail(attempt.name, attempt.directory, isFresh);
    tail.unwatch = this.#options.host.files.watch(attempt.directory, () => this.#ring(tail));
    if (!isFresh) this.#ring(tail);
  }

  async flush({ name }: Attempt): Promise<void> {
    const tail = this.#tails.get(name);
    if (tail === undefined) return;
    const pushed = this.#pushAll(tail).then(() => true);
    // A long rest takes its time; only one that does not move at all is not waited for.
    for (let seen = -1; seen !== tail.taken; ) {
      seen = tail.taken;
      const patience = new AbortController();
      const late = sleep(this.#options.host.timers, flushWithinMs, patience.signal).then(() => false);
      if (await Promise.race([pushed, late])) seen = tail.taken;
      patience.abort();
    }
  }

  close(attempt: Attempt, directory: string): void {
    const tail = this.#tails.get(attempt.name) ?? this.#newTail(attempt.name, directory, false);
    tail.unwatch();
    tail.directory = directory;
    void this.#finish(tail);
  }

  /** Brings what an agent before this one put aside and could not bring any more. */
  async catchUp(): Promise<void> {
    const { host, directory, node } = this.#options;
    for (const { name } of (await host.files.list(`${directory}/ended`)) ?? []) {
      const key = parseTaskKey(name);
      const ended = endedDirectory(directory, name);
      if (key === null || (await host.files.stat(`${ended}/${pushedMark}`)) !== null) continue;
      this.close(attemptOf(directory, node, key), ended);
    }
  }

  /** Stops, whatever is left: the next agent brings it. */
  end(): void {
    this.#closed.abort();
    for (const tail of this.#tails.values()) {
      tail.unwatch();
      tail.stopped.abort();
    }
    this.#tails.clear();
  }

  #newTail(name: string, directory: string, isFresh: boolean): Tail {
    const sizes = new Map<string, number>();
    if (isFresh) for (const file of logFiles) sizes.set(nameOf(file), 0);
    const tail: Tail = {
      name,
      directory,
      sizes,
      done: new Set(),
      stopped: new AbortController(),
      unwatch: () => {},
      pushing: null,
      rings: 0,
      taken: 0,
      isDue: false,
    };
    this.#tails.set(name, tail);
    return tail;
  }

  /** Something was written, or will be by the time that what was gathered is pushed. */
  #ring(tail: Tail): void {
    if (tail.isDue || this.#closed.signal.aborted) return;
    tail.isDue = true;
    this.#options.host.timers.after(gatherMs, () => {
      tail.isDue = false;
      void this.#pushAll(tail);
    });
  }

  /** One at a time for each attempt; whoever asks while one is under way is answered by the next. */
  #pushAll(tail: Tail): Promise<void> {
    tail.rings += 1;
    tail.pushing ??= this.#pushUntilQuiet(tail).finally(() => {
      tail.pushing = null;
    });
    return tail.pushing;
  }

  async #pushUntilQuiet(tail: Tail): Promise<void> {
    for (let seen = -1; seen !== tail.rings && !this.#closed.signal.aborted; ) {
      seen = tail.rings;
      for (const file of await this.#grown(tail)) await this.#pushFile(tail, file);
    }
  }

  /** With one call, since most of them hardly ever grow. What is no file is looked at as if it had. */
  async #grown({ directory, sizes, done }: Tail): Promise<readonly LogFile[]> {
    const open = logFiles.filter((file) => !done.has(nameOf(file)));
    const stats = await this.#options.host.files.lstatMany(open.map((file) => `${directory}/${nameOf(file)}`));
    return open.filter((file, at) => {
      const stat = stats[at] ?? null;
      return stat !== null && (stat.kind !== 'file' || stat.sizeBytes > (sizes.get(nameOf(file)) ?? 0));
    });
  }

  async #pushFile(tail: Tail, file: LogFile): Promise<void> {
    const name = nameOf(file);
    while (!tail.done.has(name) && !this.#closed.signal.aborted) {
      const piece = await this.#nextPiece(tail, file);
      if (piece === null) return;
      try {
        const { sizeBytes, full } = await this.#turns(() => this.#options.push(piece));
        tail.sizes.set(name, sizeBytes);
        tail.taken += 1;
        if (full) tail.done.add(name);
      } catch (error) {
        if (this.#closed.signal.aborted) return;
        // What the server will never have is not offered again; anything else passes.
        if (error instanceof RefusalError && !passing.has(error.code)) tail.done.add(name);
        else await sleep(this.#options.host.timers, againMs, tail.stopped.signal);
      }
    }
  }

  /** Null when the server has all that there is. Of what an earlier agent began, the size is asked first. */
  async #nextPiece(tail: Tail, file: LogFile): Promise<LogPiece | null> {
    const name = nameOf(file);
    const known = tail.sizes.get(name);
    const base = { task: tail.name, file: name };
    const found = await this.#read(tail, file, known ?? 0);
    if (found === null || (found.bytes.length === 0 && found.droppedBytes === 0)) return null;
    if (known === undefined) return { ...base, offset: 0, droppedFrom: null, bytes: new Uint8Array() };
    const { bytes, droppedBytes } = found;
    return { ...base, offset: known + droppedBytes, droppedFrom: droppedBytes > 0 ? known : null, bytes };
  }

  async #read(
    { directory }: Tail,
    { label, stream }: LogFile,
    offset: number,
  ): Promise<{ bytes: Uint8Array; droppedBytes: number } | null> {
    const { files } = this.#options.host;
    if (stream !== 'times') return readLog({ files, directory, label, stream }, offset, pieceBytes);
    const bytes = await files.readAt(`${directory}/${label}.times`, offset, pieceBytes);
    return bytes === null ? null : { bytes, droppedBytes: 0 };
  }

  async #finish(tail: Tail): Promise<void> {
    await this.#pushAll(tail);
    if (this.#closed.signal.aborted) return;
    this.#tails.delete(tail.name);
    await this.#options.host.files.write(`${tail.directory}/${pushedMark}`, new Uint8Array()).catch(() => {
      // Gone or a full disk: then it is looked at once more by the next agent.
    });
  }
}

/** The logs of one attempt, and how far the server has them. */
interface Tail {
  readonly name: string;
  directory: string;
  readonly sizes: Map<string, number>;
  /** Files that the server takes no more of. */
  readonly done: Set<string>;
  /** One for each, as many may wait at once for a server that takes nothing. */
  readonly stopped: AbortController;
  unwatch: () => void;
  pushing: Promise<void> | null;
  /** How often it was asked for. */
  rings: number;
  /** Pieces that the server has taken. */
  taken: number;
  isDue: boolean;
}

const passing: ReadonlySet<string> = new Set([
  'STORE_FULL',
  'READ_ONLY',
  'UNREACHABLE',
  'STOPPING',
  'TOO_MANY',
  'INTERNAL',
  'TIMED_OUT',
  'UNTRUSTED',
]);

function nameOf({ label, stream }: LogFile): string {
  return `${label}.${stream}`;
}

/** Lets so many work at once; the others wait their turn. */
function createTurns(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let busy = 0;
  return async (work) => {
    if (busy >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else busy += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) busy -= 1;
      else next();
    }
  };
}
