import { spawnSync } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { isAbsent, toHostError } from './system-error.ts';

/** One live process that is not a zombie. */
export interface ProcessStat {
  readonly pid: number;
  readonly parentPid: number;
  readonly groupId: number;
  readonly sessionId: number;
  /** Clock ticks since boot on Linux; seconds since 1970 on macOS, which has nothing finer. */
  readonly startTicks: number;
}

/** Null when there is no such process, or only its zombie. */
export function readProcess(pid: number): ProcessStat | null {
  return process.platform === 'linux' ? readProcStat(pid) : (readPs(['-p', String(pid)])[0] ?? null);
}

/** How long one look at the table may vouch for the next: far too short for every process id to be used up once. */
const vouchMs = 200;

/**
 * Returns a function that reads the table of processes, without those that are surely older than `sinceTicks`. What was
 * old in the look before is not read again, as long as no process id can have been given out a second time since.
 */
export function createProcessTable(): (sinceTicks: number | null) => ProcessStat[] {
  if (process.platform !== 'linux') return () => readPs(['-ax']);
  let before = { starts: new Map<number, number>(), lastPid: 0, atMs: Number.NEGATIVE_INFINITY };
  return (sinceTicks) => {
    const now = { starts: new Map<number, number>(), lastPid: readLastPid(), atMs: performance.now() };
    const vouched = now.atMs - before.atMs < vouchMs && now.lastPid >= before.lastPid ? before.starts : null;
    const found: ProcessStat[] = [];
    for (const name of readdirSync('/proc')) {
      const first = name.charCodeAt(0);
      if (first < 48 || first > 57) continue;
      const pid = Number(name);
      const start = vouched?.get(pid);
      if (start !== undefined && sinceTicks !== null && start < sinceTicks) {
        now.starts.set(pid, start);
        continue;
      }
      const stat = readProcStat(pid);
      if (stat === null) continue;
      now.starts.set(pid, stat.startTicks);
      found.push(stat);
    }
    before = now;
    return found;
  };
}

/** The id that the kernel gave out last; the next ones count up from it and begin again at the top. */
function readLastPid(): number {
  return Number(readFileSync('/proc/loadavg', 'latin1').trim().split(' ').at(-1));
}

/** Far more than the one line of a stat file can hold. */
const statBytes = Buffer.allocUnsafe(4096);

/** Whoever watches processes reads this once a second for each of them: one read, into memory that is there already. */
function readProcStat(pid: number): ProcessStat | null {
  const path = `/proc/${pid}/stat`;
  let file: number | null = null;
  try {
    file = openSync(path, 'r');
    return parseProcStat(statBytes.toString('latin1', 0, readSync(file, statBytes, 0, statBytes.length, 0)));
  } catch (error) {
    if (isGoneOrForeign(error)) return null;
    throw toHostError(error, path);
  } finally {
    if (file !== null) closeSync(file);
  }
}

/** Reads a file of a process; null when the process is gone or is not ours to look into. */
export function readProcFile(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (isGoneOrForeign(error)) return null;
    throw toHostError(error, path);
  }
}

/** ESRCH comes from a file of /proc that was opened just before its process ended. */
export function isGoneOrForeign(error: unknown): boolean {
  if (isAbsent(error)) return true;
  return error instanceof Error && 'code' in error && ['ESRCH', 'EACCES', 'EPERM'].includes(String(error.code));
}

/** Parses /proc/PID/stat; the name in parentheses may itself hold spaces and parentheses. */
export function parseProcStat(text: string): ProcessStat | null {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const state = fields[0];
  if (state === undefined || state === 'Z' || state === 'X') return null;
  return {
    pid: Number.parseInt(text, 10),
    parentPid: Number(fields[1]),
    groupId: Number(fields[2]),
    sessionId: Number(fields[3]),
    startTicks: Number(fields[19]),
  };
}

/** The way of macOS, which has no /proc. Its `sess` column is an address, so the group stands in for the session. */
function readPs(which: readonly string[]): ProcessStat[] {
  const argv = ['-o', 'pid=,ppid=,pgid=,stat=,lstart=', ...which];
  const result = spawnSync('ps', argv, { encoding: 'utf8', env: { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC0' } });
  if (result.error !== undefined) throw toHostError(result.error, null);
  return result.stdout.split('\n').flatMap((line) => parsePsLine(line) ?? []);
}

/** Parses a line of `ps -o pid=,ppid=,pgid=,stat=,lstart=` that was printed in the C locale and in UTC. */
export function parsePsLine(line: string): ProcessStat | null {
  const match = /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/.exec(line);
  if (match === null || match[4]?.startsWith('Z')) return null;
  const [pid, parentPid, groupId] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const startTicks = Date.parse(`${match[5]} UTC`) / 1000;
  return { pid, parentPid, groupId, sessionId: groupId, startTicks };
}
