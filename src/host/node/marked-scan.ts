import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import type { MarkedProcess, ProcessIdentity, TreeSearch } from '../processes.ts';
import { createProcessTable, isGoneOrForeign, type ProcessStat, readProcFile } from './proc-stat.ts';
import { toHostError } from './system-error.ts';

export interface ScanRequest extends TreeSearch {
  /** Members of the attempt's cgroup; empty where there is none. */
  readonly members: ReadonlySet<number>;
}

/** Answers searches that arrive in the same turn from one look at the process table. */
export function createMarkedScan(bootId: string): (request: ScanRequest) => Promise<readonly MarkedProcess[]> {
  const readTable = createProcessTable();
  let waiting: { request: ScanRequest; settle: (result: () => readonly MarkedProcess[]) => void }[] = [];

  const answer = (): void => {
    const batch = waiting;
    waiting = [];
    try {
      const table = createScanTable(readTable(oldestStart(batch.map(({ request }) => request))));
      for (const { request, settle } of batch) settle(() => findIn(table, request, bootId));
    } catch (error) {
      for (const { settle } of batch) {
        settle(() => {
          throw error;
        });
      }
    }
  };
  return (request) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setImmediate(answer);
      const settle = (result: () => readonly MarkedProcess[]): void => {
        try {
          resolve(result());
        } catch (error) {
          reject(error);
        }
      };
      waiting.push({ request, settle });
    });
}

/** Null when one of the searches has no leader, so that a process of any age may belong to it. */
function oldestStart(requests: readonly ScanRequest[]): number | null {
  const starts = requests.map(({ leader }) => leader?.startTicks ?? null);
  return starts.reduce((oldest, start) => (oldest === null || start === null ? null : Math.min(oldest, start)));
}

/** What one look at the process table gives; the costly parts are read once and only when asked for. */
interface ScanTable {
  /** Another process has the pid now. Then the group of that number is its own: a kernel gives no number away that a group still has. */
  isReused(identity: ProcessIdentity): boolean;
  readonly processes: readonly ProcessStat[];
  markOf(pid: number): string | null;
  appendsTo(pid: number): readonly string[];
}

function createScanTable(processes: readonly ProcessStat[]): ScanTable {
  const marks = new Map<number, string | null>();
  const files = new Map<number, readonly string[]>();
  const readMark = process.platform === 'linux' ? readMarkOf : createPsMarks();
  const startOf = new Map(processes.map((one) => [one.pid, one.startTicks]));
  return {
    processes,
    isReused: ({ pid, startTicks }) => (startOf.get(pid) ?? startTicks) !== startTicks,
    markOf: (pid) => remember(marks, pid, readMark),
    appendsTo: (pid) => remember(files, pid, readAppendedFiles),
  };
}

function remember<T>(cache: Map<number, T>, pid: number, read: (pid: number) => T): T {
  const known = cache.get(pid);
  if (known !== undefined) return known;
  const value = read(pid);
  cache.set(pid, value);
  return value;
}

function findIn(table: ScanTable, request: ScanRequest, bootId: string): readonly MarkedProcess[] {
  const { leader } = request;
  if (leader !== null && leader.bootId !== bootId) return [];
  const young = table.processes.filter(
    (one) => one.pid !== process.pid && one.pid !== 1 && (leader === null || one.startTicks >= leader.startTicks),
  );
  const found = new Map<number, ProcessStat>();
  for (const one of young) {
    if (belongs(table, one, request)) found.set(one.pid, one);
  }
  // Descendants come after their parents at once or need another round; nearly always one round finds none.
  for (let grew = found.size > 0; grew; ) {
    grew = false;
    for (const one of young) {
      if (found.has(one.pid) || !found.has(one.parentPid)) continue;
      found.set(one.pid, one);
      grew = true;
    }
  }
  return [...found.values()].map((one) => ({
    pid: one.pid,
    startTicks: one.startTicks,
    bootId,
    inGroup: leader !== null && one.groupId === leader.pid,
  }));
}

function belongs(table: ScanTable, one: ProcessStat, request: ScanRequest): boolean {
  const { leader, mark, directory, members } = request;
  const isLeaders = leader !== null && [one.pid, one.sessionId, one.groupId].includes(leader.pid);
  if (isLeaders && !table.isReused(leader)) return true;
  if (members.has(one.pid)) return true;
  if (table.markOf(one.pid) === mark) return true;
  return table.appendsTo(one.pid).some((path) => isLogOf(directory, path));
}

function isLogOf(directory: string, path: string): boolean {
  return path.startsWith(`${directory}/`) && /^[^/]+\.(out|err)$/.test(path.slice(directory.length + 1));
}

const markName = Buffer.from('RUNYARD_MARK=');

function readMarkOf(pid: number): string | null {
  const environment = readProcFile(`/proc/${pid}/environ`);
  if (environment === null) return null;
  for (let at = environment.indexOf(markName); at !== -1; at = environment.indexOf(markName, at + 1)) {
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('utf8', at + markName.length, end === -1 ? environment.length : end);
  }
  return null;
}

/** Files opened with O_APPEND, as the shim opens logs: whoever only reads a log (a person, this program) is not found. */
function readAppendedFiles(pid: number): readonly string[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      const path = readlinkSync(`/proc/${pid}/fd/${fd}`);
      return /\.(out|err)$/.test(path) && isAppending(pid, fd) ? [path] : [];
    });
  } catch (error) {
    if (isGoneOrForeign(error)) return [];
    throw toHostError(error, `/proc/${pid}/fd`);
  }
}

function isAppending(pid: number, fd: string): boolean {
  const text = readProcFile(`/proc/${pid}/fdinfo/${fd}`)?.toString('latin1') ?? '';
  const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(text)?.[1] ?? '0', 8);
  return (flags & 0o2000) !== 0;
}

/** The way of macOS: `ps -E` shows the environment of one's own processes. */
function createPsMarks(): (pid: number) => string | null {
  let marks: Map<number, string> | null = null;
  return (pid) => {
    marks ??= readPsMarks();
    return marks.get(pid) ?? null;
  };
}

function readPsMarks(): Map<number, string> {
  const options = { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const;
  const result = spawnSync('ps', ['-axwwE', '-o', 'pid=,command='], options);
  if (result.error !== undefined) throw toHostError(result.error, null);
  const pattern = /^\s*(\d+).*\sRUNYARD_MARK=(\S+)/;
  return new Map(
    result.stdout.split('\n').flatMap((line): [number, string][] => {
      const match = pattern.exec(line);
      return match?.[2] === undefined ? [] : [[Number(match[1]), match[2]]];
    }),
  );
}
