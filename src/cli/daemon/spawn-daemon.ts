import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const largestLogBytes = 1024 * 1024;
const shownBytes = 2000;

/** A program in the background: its own session, its output in a file. */
export interface Daemon {
  readonly pid: number;
  /** Set when it ended. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** The end of what it has written since it was started. */
  said(): string;
  /** Lets this process end without it. */
  release(): void;
}

export function spawnDaemon(argv: readonly string[], logPath: string, env: NodeJS.ProcessEnv): Daemon {
  mkdirSync(dirname(logPath), { recursive: true, mode: 0o700 });
  rotate(logPath);
  const log = openSync(logPath, 'a', 0o600);
  const fromByte = fstatSync(log).size;
  const [program = '', ...args] = argv;
  const child = spawn(program, args, { detached: true, stdio: ['ignore', log, log], cwd: '/', env });
  closeSync(log);
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.on('exit', (code, signal) => resolve({ code, signal }));
    child.on('error', reject);
  });
  return { pid: child.pid ?? 0, ended, said: () => tailOf(logPath, fromByte), release: () => child.unref() };
}

/** The end of a log, of what stands behind a byte of it. */
export function tailOf(path: string, fromByte = 0): string {
  return readFileSync(path).subarray(fromByte).toString('utf8').slice(-shownBytes).trim();
}

/** One earlier log is kept, so that the two never take more than twice the cap. */
function rotate(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > largestLogBytes) renameSync(path, `${path}.1`);
}
