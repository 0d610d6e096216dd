import { mkdir, open, readdir, rename, stat, truncate } from 'node:fs/promises';
import type { Embedded } from '../../client/embedded.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { jobOfRecord } from '../../control/archive.ts';
import { findTask, type Job, parseTaskKey, type TaskKey, taskKeyText } from '../../core/job/job.ts';
import { refuse } from '../../core/refusal.ts';
import { HostError } from '../../host/files.ts';

/** The files of an attempt that are pushed; the server makes the path of each from this list and a checked key (R4.30). */
export const logFiles = ['setup.out', 'setup.err', 'setup.times', 'run.out', 'run.err', 'run.times'] as const;
export type LogFile = (typeof logFiles)[number];

export interface PushedPiece {
  /** As the node names it: `<job>.<index>.<rank>.<attempt>`. */
  readonly task: string;
  readonly file: string;
  /** Where the piece belongs. */
  readonly offset: number;
  /** Everything from here up to `offset` was dropped by the node before it could be pushed; null for nothing. */
  readonly droppedFrom: number | null;
  readonly bytes: Uint8Array;
}

/** What the server has of a log now: from there it goes on. `full`: it takes no more of it. */
export interface LogSize {
  readonly sizeBytes: number;
  readonly full: boolean;
}

const usualCapBytes = 16 * 1024 ** 3;
const countAgainMs = 60_000;

/**
 * Logs of nodes that are elsewhere, kept as a node here keeps its own, so that they are read in the same way and outlive
 * the node: `<home>/nodes/<node>/attempts/<task>/run.out`.
 */
export class LogStore {
  readonly #embedded: Embedded;
  readonly #capBytes: number;
  readonly #turns = new Map<string, Promise<unknown>>();
  readonly #used = new Map<string, { bytes: number; countedMs: number }>();

  constructor(embedded: Embedded, capBytes = usualCapBytes) {
    this.#embedded = embedded;
    this.#capBytes = capBytes;
  }

  /**
   * Takes the next piece of a log. One that does not fit on is not taken, and the answer says where to go on; a piece
   * that comes twice is taken once.
   */
  async push(node: string, piece: PushedPiece): Promise<LogSize> {
    const key = readTask(piece.task);
    const file = logFiles.find((one) => one === piece.file);
    if (file === undefined) {
      throw new RefusalError(
        refuse('BAD_VALUE', `an attempt has no log ${JSON.stringify(piece.file.slice(0, 50))}`, {
          path: 'file',
          hint: `there are: ${logFiles.join(', ')}`,
        }),
      );
    }
    const directory = `${this.#embedded.home}/nodes/${node}/attempts/${taskKeyText(key)}`;
    const path = `${directory}/${file}`;
    return this.#inTurn(path, async () => {
      if (!(await exists(directory))) {
        await this.#authorize(node, key);
        await mkdir(directory, { recursive: true, mode: 0o700 });
      }
      return this.#append({ node, directory, file, piece });
    });
  }

  async #append({ node, directory, file, piece }: Place): Promise<LogSize> {
    const path = `${directory}/${file}`;
    const sizeBytes = await sizeOf(path);
    if (await exists(fullPath(path))) return { sizeBytes, full: true };
    const { offset, droppedFrom, bytes } = piece;
    if (droppedFrom === sizeBytes && offset > sizeBytes) await skipTo(directory, file, { sizeBytes, offset });
    else if (offset !== sizeBytes) return { sizeBytes, full: false };
    if (bytes.length === 0) return { sizeBytes: offset, full: false };
    if ((await this.#usedBytes(node)) + bytes.length > this.#capBytes) {
      await this.#fill(path, node);
      return { sizeBytes, full: true };
    }
    await append(path, bytes);
    const used = this.#used.get(node);
    if (used !== undefined) used.bytes += bytes.length;
    return { sizeBytes: offset + bytes.length, full: false };
  }

  /** Says in the log's own place that the rest of it is missing (R4.42). */
  async #fill(path: string, node: string): Promise<void> {
    await append(fullPath(path), new Uint8Array());
    if (path.endsWith('.times')) return;
    const capMiB = Math.round(this.#capBytes / 1024 ** 2);
    const text = `\n[runyard: the logs of node ${node} fill the ${capMiB} MiB that are kept here; what follows was not kept]\n`;
    await append(path, new TextEncoder().encode(text));
  }

  /** A node pushes what its own attempts print, and nothing else (R4.27). */
  async #authorize(node: string, key: TaskKey): Promise<void> {
    const { plane } = this.#embedded;
    const live = plane.state.jobs.get(key.job);
    if (live !== undefined && findTask(live, key)?.task.node === node) return;
    const archived = live === undefined ? await plane.log.archived(key.job) : null;
    if (archived !== null && wasPlaced(jobOfRecord(archived), key, node)) return;
    const task = taskKeyText(key);
    const subject = `log of ${task}`;
    const refused = { who: `node ${node}`, action: 'pushLog', subject, code: 'NOT_ASSIGNED', times: 1 } as const;
    await plane.execute({ kind: 'RecordRefusal', ...refused });
    throw new RefusalError(refuse('NOT_ASSIGNED', `task ${task} was never placed on ${node}`));
  }

  async #usedBytes(node: string): Promise<number> {
    const { home, host } = this.#embedded;
    const known = this.#used.get(node);
    const nowMs = host.clock.bootMs();
    const isOld = known !== undefined && nowMs - known.countedMs > countAgainMs;
    // Counted again only where it matters: pruning may have made room.
    if (known !== undefined && !(isOld && known.bytes > this.#capBytes * 0.9)) return known.bytes;
    const bytes = await countBytes(`${home}/nodes/${node}/attempts`);
    this.#used.set(node, { bytes, countedMs: nowMs });
    return bytes;
  }

  #inTurn<Result>(path: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (this.#turns.get(path) ?? Promise.resolve()).then(work, work).catch(throwFullDisk);
    this.#turns.set(path, turn);
    const forget = (): void => {
      if (this.#turns.get(path) === turn) this.#turns.delete(path);
    };
    turn.then(forget, forget);
    return turn;
  }
}

interface Place {
  readonly node: string;
  readonly directory: string;
  readonly file: LogFile;
  readonly piece: PushedPiece;
}

function readTask(text: string): TaskKey {
  const key = text.length <= 200 ? parseTaskKey(text) : null;
  // What is no number of ours would make a path that no reader looks for.
  if (key !== null && taskKeyText(key) === text) return key;
  throw new RefusalError(
    refuse('BAD_VALUE', `${JSON.stringify(text.slice(0, 80))} is not the name of a task`, { path: 'task' }),
  );
}

/** An earlier attempt than the last is not looked up: what it printed began while it was the last one. */
function wasPlaced(job: Job, key: TaskKey, node: string): boolean {
  const element = job.elements.get(key.index);
  return element !== undefined && element.attempt === key.attempt && element.tasks[key.rank]?.node === node;
}

/**
 * Leaves out what the node dropped. What is there becomes a segment, as rotation would make it, and the live file begins
 * with a hole; the empty segment at its end tells readers how much is missing.
 */
async function skipTo(
  directory: string,
  file: LogFile,
  { sizeBytes, offset }: { sizeBytes: number; offset: number },
): Promise<void> {
  const path = `${directory}/${file}`;
  const startBytes = await lastSegmentEnd(directory, file);
  if (sizeBytes > startBytes) {
    if (startBytes === 0) await rename(path, `${path}.0-${sizeBytes}`);
    else await copyPart(path, `${path}.${startBytes}-${sizeBytes}`, { from: startBytes, to: sizeBytes });
  }
  await append(`${path}.${offset}-${offset}`, new Uint8Array());
  await append(path, new Uint8Array());
  await truncate(path, offset);
}

async function lastSegmentEnd(directory: string, file: LogFile): Promise<number> {
  const ends = (await readdir(directory)).flatMap((name) => {
    const range = name.startsWith(`${file}.`) ? /^\d+-(\d+)$/.exec(name.slice(file.length + 1)) : null;
    return range === null ? [] : [Number(range[1])];
  });
  return Math.max(0, ...ends);
}

async function copyPart(from: string, to: string, range: { from: number; to: number }): Promise<void> {
  const [source, target] = [await open(from, 'r'), await open(to, 'w', 0o600)];
  try {
    const buffer = new Uint8Array(1024 * 1024);
    for (let at = range.from; at < range.to; ) {
      const { bytesRead } = await source.read(buffer, 0, Math.min(buffer.length, range.to - at), at);
      if (bytesRead === 0) break;
      await target.write(buffer, 0, bytesRead);
      at += bytesRead;
    }
  } finally {
    await source.close();
    await target.close();
  }
}

async function append(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'a', 0o600);
  try {
    if (bytes.length > 0) await file.appendFile(bytes);
  } finally {
    await file.close();
  }
}

async function countBytes(attempts: string): Promise<number> {
  let bytes = 0;
  for (const name of await list(attempts)) {
    for (const file of await list(`${attempts}/${name}`)) bytes += await blocksOf(`${attempts}/${name}/${file}`);
  }
  return bytes;
}

/** What it takes on the disk: holes take nothing. */
async function blocksOf(path: string): Promise<number> {
  const found = await stat(path).catch(orNull);
  return found === null ? 0 : Math.min(found.size, found.blocks * 512);
}

async function list(path: string): Promise<readonly string[]> {
  return (await readdir(path).catch(orNull)) ?? [];
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(orNull))?.size ?? 0;
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(orNull)) !== null;
}

function fullPath(path: string): string {
  return `${path}.full`;
}

function orNull(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

function throwFullDisk(error: unknown): never {
  const code = error instanceof HostError ? error.code : (error as NodeJS.ErrnoException).code;
  if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
  throw new RefusalError(refuse('STORE_FULL', 'the disk that holds the logs is full', { hint: 'yard prune' }));
}
