import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { RunyardClient } from '../src/client/api.ts';
import { Runyard } from '../src/client/runyard.ts';
import { isServed, startServedLab } from './served-lab.ts';

/** The command as it is shipped. */
export const yardPath = resolve(import.meta.dirname, '../dist/yard.js');

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A yard command that runs, with what it has printed so far. */
export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  stdout(): string;
  stderr(): string;
  /** Resolves when what was printed, on either stream, matches. Rejects when the command ends first. */
  printed(pattern: RegExp): Promise<void>;
}

export interface Lab {
  /** A fresh home of its own. */
  readonly home: string;
  /** A fresh folder to work in. */
  readonly folder: string;
  yard(
    args: readonly string[],
    options?: { input?: string; cwd?: string; env?: Record<string, string> },
  ): Promise<Finished>;
  /** A line of shell in which `yard` is the command. */
  shell(line: string): Promise<Finished>;
  start(
    args: readonly string[],
    options?: { input?: string; cwd?: string; env?: Record<string, string>; detached?: boolean },
  ): Running;
  /** The client of the SDK over the same control plane. */
  client(): Promise<RunyardClient>;
  /** Ends what it started and removes its folders. */
  close(): Promise<void>;
}

/**
 * A home, a folder, and the shipped command over them. In served mode (RUNYARD_TEST_MODE) the commands and the nodes of
 * that home belong to a server, which has a home of its own.
 */
export function openLab(): Lab {
  const root = mkdtempSync(join(tmpdir(), 'runyard-lab-'));
  const home = join(root, 'home');
  const folder = mkdtempSync(join(root, 'work-'));
  const started = new Set<Running>();
  const served = isServed ? startServedLab({ root, home, yardPath }) : null;
  const prepared = (args: readonly string[]): readonly string[] => served?.prepare(args, folder) ?? args;
  const lab: Lab = {
    home,
    folder,
    yard: (args, options) => lab.start(args, options).finished,
    shell(line) {
      const command = [process.execPath, yardPath].map((word) => `'${word}'`).join(' ');
      const script = line.replaceAll(/\byard\b/g, command);
      return follow(
        spawn('sh', ['-c', script], { cwd: folder, env: { ...environment(home), ...served?.env }, stdio: pipes }),
      ).finished;
    },
    start(args, options = {}) {
      const running = startYard(prepared(args), {
        home,
        cwd: options.cwd ?? folder,
        ...options,
        env: { ...served?.env, ...options.env },
      });
      started.add(running);
      void running.finished.finally(() => started.delete(running));
      return running;
    },
    client: () =>
      served === null ? Runyard.open({ home }) : Runyard.connect({ server: served.url, token: served.token, home }),
    async close() {
      for (const running of started) running.child.kill('SIGKILL');
      await served?.end();
      await endHome(home);
      // A command that was left behind holds the pipes of its yard open: it has just been ended.
      await Promise.all([...started].map((running) => running.finished));
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
  return lab;
}

function startYard(
  args: readonly string[],
  options: { home: string; cwd: string; input?: string; env?: Record<string, string>; detached?: boolean },
): Running {
  const child = spawn(process.execPath, [yardPath, ...args], {
    cwd: options.cwd,
    env: { ...environment(options.home), ...options.env },
    stdio: pipes,
    detached: options.detached ?? false,
  });
  child.stdin.end(options.input ?? '');
  return follow(child);
}

const pipes: ['pipe', 'pipe', 'pipe'] = ['pipe', 'pipe', 'pipe'];

function environment(home: string): NodeJS.ProcessEnv {
  return { ...process.env, RUNYARD_HOME: home, NO_COLOR: '1' };
}

export function follow(child: ChildProcessByStdio<Writable, Readable, Readable>): Running {
  let stdout = '';
  let stderr = '';
  const listeners = new Set<() => void>();
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    tell();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    tell();
  });
  let ended = false;
  const finished = new Promise<Finished>((done, fail) => {
    child.once('error', fail);
    child.once('close', (code, signal) => {
      ended = true;
      tell();
      done({ code, signal, stdout, stderr });
    });
  });
  const printed = (pattern: RegExp): Promise<void> =>
    new Promise((done, fail) => {
      const look = (): void => {
        if (pattern.test(stdout) || pattern.test(stderr)) {
          listeners.delete(look);
          done();
        } else if (ended) {
          listeners.delete(look);
          fail(new Error(`ended without printing ${pattern}\nstdout: ${stdout}\nstderr: ${stderr}`));
        }
      };
      listeners.add(look);
      look();
    });
  return { child, finished, stdout: () => stdout, stderr: () => stderr, printed };
}

/** Ends what runs over a home: first what starts agents again, then agents, then tasks. */
export async function endHome(home: string): Promise<void> {
  await endAgents(home);
  endTasks(home);
}

/** Ends agents that the lab's commands left running, by the identity they recorded; first what starts them again. */
async function endAgents(home: string): Promise<void> {
  for (const node of listFolders(join(home, 'nodes'))) {
    for (const record of ['supervisor.json', 'daemon.json', 'agent.json'])
      await endRecorded(join(home, 'nodes', node, record));
  }
}

async function endRecorded(path: string): Promise<void> {
  if (!existsSync(path)) return;
  const { pid, startTicks } = JSON.parse(readFileSync(path, 'utf8')) as { pid: number; startTicks: number };
  if (pid === process.pid || startTicksOf(pid) !== startTicks) return;
  process.kill(pid, 'SIGKILL');
  await until(() => startTicksOf(pid) !== startTicks);
}

/** Ends tasks of this home that outlived their agent: found by the mark that they carry and the home that they use. */
function endTasks(home: string): void {
  for (const pid of markedPids(home)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself between the two looks.
    }
  }
}

/** Live processes whose environment or command line names the home: tasks carry it in RUNYARD_WORKDIR. */
export function markedPids(home: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => readProc(pid, 'environ').includes(`RUNYARD_WORKDIR=${home}`) && !isZombie(pid));
}

function isZombie(pid: number): boolean {
  return / [ZX] /.test(readProc(pid, 'stat').replace(/^.*\)/s, ''));
}

export function startTicksOf(pid: number): number | null {
  const stat = readProc(pid, 'stat');
  if (stat === '') return null;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' ? null : Number(fields[19]);
}

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

export function listFolders(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : [];
}

/** Waits for a condition that no event announces; fails after a minute, which nothing takes that comes at all. */
export async function until(condition: () => boolean | Promise<boolean>, what = 'the condition'): Promise<void> {
  const endMs = Date.now() + 60_000;
  while (!(await condition())) {
    if (Date.now() > endMs) throw new Error(`${what} did not come true within a minute`);
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Suites that run at length take their full size when asked for by name: `RUNYARD_FULL=1`. */
export const isFull = process.env.RUNYARD_FULL === '1';
