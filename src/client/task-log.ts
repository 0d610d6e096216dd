import { readLog } from '../agent/log-reader.ts';
import { offsetsAt, readLogTimes } from '../agent/log-times.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { Host } from '../host/host.ts';
import type { LogChunk, LogOptions } from './api.ts';

const pieceBytes = 256 * 1024;

type Label = 'setup' | 'run';
type Stream = 'out' | 'err';
type Decoder = InstanceType<typeof TextDecoder>;

/** How far the logs of one task have been read: bytes by `run.out`, `run.err`, `setup.out`, `setup.err`. */
export type TaskOffsets = Map<string, number>;

/** The logs of one attempt, read from where the reader stands. The agent moves the directory when the attempt has ended. */
export class TaskLog {
  readonly #host: Host;
  readonly #key: TaskKey;
  readonly #find: () => Promise<string | null>;
  readonly #options: LogOptions;
  readonly #offsets: TaskOffsets;
  readonly #decoders = new Map<string, Decoder>();
  readonly #listener: () => void;
  #unwatch: (() => void) | null = null;
  #started = false;

  constructor(
    host: Host,
    given: {
      key: TaskKey;
      find: () => Promise<string | null>;
      options: LogOptions;
      listener: () => void;
      /** Where to go on; empty to begin where the options say. Kept up to date behind each piece. */
      offsets: TaskOffsets;
    },
  ) {
    this.#host = host;
    this.#key = given.key;
    this.#find = given.find;
    this.#options = given.options;
    this.#offsets = given.offsets;
    this.#listener = given.listener;
  }

  /** What was written since the last call, stdout and stderr interleaved as far as the time marks tell. */
  async *readNew(): AsyncGenerator<LogChunk> {
    const directory = await this.#find();
    if (directory === null) return;
    if (!this.#started) await this.#begin(directory);
    for (const label of this.#labels()) yield* this.#readLabel(directory, label);
  }

  /** All that is left of a log to which nothing is added any more, and characters that were cut. */
  async *readRest(): AsyncGenerator<LogChunk> {
    for (let from: string | null = null; ; ) {
      from = await this.#find();
      yield* this.readNew();
      // Moved while it was read: what was looked for at the old place after that seemed to be at its end.
      if ((await this.#find()) === from) break;
    }
    for (const [name, decoder] of this.#decoders) {
      const text = decoder.decode();
      const [label, stream] = name.split('.') as [Label, Stream];
      if (text !== '') yield this.#chunk(label, stream, new Uint8Array(), text, this.#host.clock.wallMs());
    }
  }

  close(): void {
    this.#unwatch?.();
  }

  #labels(): readonly Label[] {
    const { step, tail } = this.#options;
    if (step !== undefined) return [step];
    return tail === undefined ? ['setup', 'run'] : ['run'];
  }

  /** Finds where to begin: `--since` by the time marks, `--tail` by counting lines from the end. */
  async #begin(directory: string): Promise<void> {
    this.#started = true;
    if (this.#options.follow === true) this.#unwatch = this.#host.files.watch(directory, this.#listener);
    if (this.#offsets.size > 0) return;
    const { sinceMs, tail } = this.#options;
    for (const label of this.#labels()) {
      const times = sinceMs === undefined ? [] : await readLogTimes({ files: this.#host.files, directory, label });
      const start = offsetsAt(times, sinceMs ?? 0);
      for (const stream of ['out', 'err'] as const) {
        let offset = stream === 'out' ? start.outBytes : start.errBytes;
        if (tail !== undefined) offset = Math.max(offset, await this.#offsetOfTail(directory, label, stream, tail));
        this.#offsets.set(`${label}.${stream}`, offset);
      }
    }
  }

  async #offsetOfTail(directory: string, label: Label, stream: Stream, lines: number): Promise<number> {
    const sizeBytes = (await this.#host.files.stat(`${directory}/${label}.${stream}`))?.sizeBytes ?? 0;
    let start = sizeBytes;
    let found = 0;
    while (start > 0) {
      const from = Math.max(0, start - pieceBytes);
      const place = { files: this.#host.files, directory, label, stream };
      const { bytes, droppedBytes } = await readLog(place, from, start - from);
      if (droppedBytes > 0) return from + droppedBytes;
      for (let position = bytes.length - 1; position >= 0; position -= 1) {
        if (bytes[position] !== 10 || from + position === sizeBytes - 1) continue;
        found += 1;
        if (found === lines) return from + position + 1;
      }
      start = from;
    }
    return 0;
  }

  async *#readLabel(directory: string, label: Label): AsyncGenerator<LogChunk> {
    const times = await readLogTimes({ files: this.#host.files, directory, label });
    for (const mark of times) {
      yield* this.#readUpTo(directory, label, 'out', mark.outBytes, mark.atMs);
      yield* this.#readUpTo(directory, label, 'err', mark.errBytes, mark.atMs);
    }
    for (const stream of ['out', 'err'] as const) {
      const writtenMs = (await this.#host.files.stat(`${directory}/${label}.${stream}`))?.mtimeMs ?? 0;
      yield* this.#readUpTo(directory, label, stream, Number.MAX_SAFE_INTEGER, Math.round(writtenMs));
    }
  }

  async *#readUpTo(
    directory: string,
    label: Label,
    stream: Stream,
    end: number,
    atMs: number,
  ): AsyncGenerator<LogChunk> {
    const name = `${label}.${stream}`;
    for (;;) {
      const offset = this.#offsets.get(name) ?? 0;
      const lengthBytes = Math.min(pieceBytes, end - offset);
      if (lengthBytes <= 0) return;
      const place = { files: this.#host.files, directory, label, stream };
      const { bytes, nextOffset, droppedBytes } = await readLog(place, offset, lengthBytes);
      if (droppedBytes > 0) {
        this.#offsets.set(name, offset + droppedBytes);
        yield this.#marker(label, stream, droppedBytes, atMs);
      }
      this.#offsets.set(name, nextOffset);
      if (bytes.length === 0) return;
      const decoder = this.#decoders.get(name) ?? new TextDecoder();
      this.#decoders.set(name, decoder);
      yield this.#chunk(label, stream, bytes, decoder.decode(bytes, { stream: true }), atMs);
    }
  }

  /** Says in the log's own place that something is missing from it (R4.42). */
  #marker(label: Label, stream: Stream, droppedBytes: number, atMs: number): LogChunk {
    const text = `[runyard: ${droppedBytes} bytes of this log were dropped to keep it within its limit]\n`;
    return this.#chunk(label, stream, new TextEncoder().encode(text), text, atMs);
  }

  #chunk(label: Label, stream: Stream, bytes: Uint8Array, text: string, atMs: number): LogChunk {
    return { task: this.#key, step: label, stream: stream === 'out' ? 'stdout' : 'stderr', atMs, text, bytes };
  }
}
