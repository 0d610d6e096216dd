import { spawn } from 'node:child_process';
import type { ExecRequest } from '../../../wire/exec-protocol.ts';
import { signalNumber } from './run-beside.ts';

export interface SpawnedCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export interface RunningListener {
  output(stream: 'stdout' | 'stderr', bytes: Uint8Array): void;
  /** It could not be started. */
  failed(error: NodeJS.ErrnoException): void;
  /** The command itself has ended; more output may come. */
  exited(exitCode: number | null, signal: number | null): void;
  /** And all of its output is there. */
  closed(exitCode: number | null, signal: number | null): void;
}

type SignalName = Extract<ExecRequest, { kind: 'signal' }>['signal'];

/** A process with pipes or a terminal. */
export interface Running {
  listen(listener: RunningListener): void;
  input(bytes: Uint8Array, taken: () => void): void;
  resize(size: { readonly columns: number; readonly rows: number }): void;
  signal(signal: SignalName): void;
  /** Null where it could not be started, and once it has ended. */
  pid(): number | null;
  pause(): void;
  resume(): void;
}

/** With pipes, in a session of its own, so that one signal reaches all of it. */
export function spawnPiped({ program, args, cwd, env }: SpawnedCommand): Running {
  const child = spawn(program, args, { cwd, env: { ...env }, detached: true, stdio: 'pipe' });
  let hasExited = false;
  child.once('exit', () => {
    hasExited = true;
  });
  // A command need not read what it is sent.
  child.stdin.on('error', () => {});
  return {
    listen(listener) {
      child.stdout.on('data', (bytes: Buffer) => listener.output('stdout', bytes));
      child.stderr.on('data', (bytes: Buffer) => listener.output('stderr', bytes));
      child.once('error', (error: NodeJS.ErrnoException) => listener.failed(error));
      child.once('exit', (code, signal) => listener.exited(code, signalNumber(signal)));
      child.once('close', (code, signal) => listener.closed(code, signalNumber(signal)));
    },
    input(bytes, taken) {
      if (bytes.length === 0) child.stdin.end();
      else if (child.stdin.writable) child.stdin.write(bytes, () => taken());
      else taken();
    },
    resize() {},
    signal(signal) {
      if (child.pid !== undefined && !hasExited) signalGroup(child.pid, signal);
    },
    pid: () => (hasExited ? null : (child.pid ?? null)),
    pause() {
      child.stdout.pause();
      child.stderr.pause();
    },
    resume() {
      child.stdout.resume();
      child.stderr.resume();
    },
  };
}

/** With a terminal; null where this machine cannot make one for us. */
export async function spawnTerminal(
  { program, args, cwd, env }: SpawnedCommand,
  { columns, rows, type }: { readonly columns: number; readonly rows: number; readonly type: string },
): Promise<Running | null> {
  const pty = await import('@lydell/node-pty').catch(() => null);
  if (pty === null) return null;
  const child = pty.spawn(program, [...args], {
    name: type,
    cols: columns,
    rows,
    cwd,
    env: { ...env, TERM: type },
    encoding: null,
  });
  let hasExited = false;
  return {
    listen(listener) {
      // Without an encoding it gives bytes, whatever its types say.
      child.onData((data: unknown) => listener.output('stdout', data as Buffer));
      child.onExit(({ exitCode, signal }) => {
        hasExited = true;
        const isSignal = signal !== undefined && signal !== 0;
        listener.closed(isSignal ? null : exitCode, isSignal ? signal : null);
      });
    },
    input(bytes, taken) {
      // Ctrl-D: a terminal's input does not end otherwise.
      // It takes bytes as well as text, whatever its types say.
      child.write(bytes.length === 0 ? '\u0004' : (Buffer.from(bytes) as unknown as string));
      taken();
    },
    resize(size) {
      if (!hasExited) child.resize(size.columns, size.rows);
    },
    signal(signal) {
      if (!hasExited) signalGroup(child.pid, signal);
    },
    pid: () => (hasExited ? null : child.pid),
    pause: () => child.pause(),
    resume: () => child.resume(),
  };
}

/** Our own child leads the group, and is not waited for yet: its number is nobody else's. */
function signalGroup(pid: number, signal: SignalName): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
