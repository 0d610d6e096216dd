import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { HelperOptions, HelperResult } from '../processes.ts';
import { toHostError } from './system-error.ts';

/** How long a helper's pipes may stay open after its end, as something that it started still holds them. */
const drainMs = 100;

/** Runs a helper in a group of its own; `killTree` gets the mark that its descendants carry when the time is up. */
export async function runHelper(
  argv: readonly string[],
  options: HelperOptions,
  killTree: (mark: string, groupId: number) => Promise<void>,
): Promise<HelperResult> {
  const [program = '', ...rest] = argv;
  const mark = options.mark ?? `helper-${randomBytes(12).toString('hex')}`;
  const env = { PATH: process.env.PATH ?? '/usr/bin:/bin', ...options.env, RUNYARD_MARK: mark };
  const child = spawn(program, rest, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const maxBytes = options.maxBytes ?? 1024 * 1024;
  const [stdout, stderr] = [collect(child.stdout, maxBytes), collect(child.stderr, maxBytes)];
  let timedOut = false;
  let killing: Promise<void> = Promise.resolve();
  const endEarly = (): void => {
    timedOut = true;
    killing = child.pid === undefined ? killing : killTree(mark, child.pid);
  };
  const timer = setTimeout(endEarly, options.timeoutMs);
  options.signal?.addEventListener('abort', endEarly, { once: true });
  try {
    const end = await waitForEnd(child);
    await killing;
    return { ...end, timedOut, stdout: stdout(), stderr: stderr() };
  } catch (error) {
    throw toHostError(error, program);
  } finally {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', endEarly);
  }
}

function waitForEnd(child: ChildProcess): Promise<{ exitCode: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => {
      const finish = (): void => {
        clearTimeout(timer);
        child.stdout?.destroy();
        child.stderr?.destroy();
        resolve({ exitCode, signal });
      };
      const timer = setTimeout(finish, drainMs);
      child.once('close', finish);
    });
  });
}

function collect(stream: Readable, maxBytes: number): () => string {
  const parts: Buffer[] = [];
  let sizeBytes = 0;
  stream.on('data', (part: Buffer) => {
    // Read on, so that a talkative helper is not blocked, but keep no more than asked for.
    if (sizeBytes < maxBytes) parts.push(part.subarray(0, maxBytes - sizeBytes));
    sizeBytes += part.length;
  });
  return () => Buffer.concat(parts).toString('utf8');
}
