import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses, type NodeProcesses, type NodeProcessesOptions } from '../host/node/processes.ts';
import type { ProcessIdentity } from '../host/processes.ts';
import type { Command } from './command.ts';
import { createExitWatch, type End, type ExitWatch } from './exit-watch.ts';
import { type Label, readRecords, type StartRecord } from './records.ts';
import { startProcess } from './start.ts';
import { stopTree } from './stop-ladder.ts';

/** A node's directory in a temporary place, with the real host, for tests that start real processes. */
export interface TestNode {
  readonly host: Host;
  readonly processes: NodeProcesses;
  readonly root: string;
  readonly bell: string;
  readonly exits: ExitWatch;
  newAttempt(): TestAttempt;
  /** Kills what attempts left, and removes the directory. */
  close(): Promise<void>;
}

export interface TestAttempt {
  readonly directory: string;
  readonly workdir: string;
  readonly mark: string;
  start(command: Command, options?: StartTestOptions): Promise<StartRecord>;
  /** Starts and waits for the end. */
  run(command: Command, options?: StartTestOptions): Promise<End>;
  waitForEnd(start: StartRecord, label?: Label): Promise<End>;
  /** The shim and the command, once both are there. */
  waitForRun(): Promise<{ shim: ProcessIdentity; command: ProcessIdentity }>;
  waitForText(name: string, text: string): Promise<void>;
  text(name: string): string;
}

export interface StartTestOptions {
  readonly label?: Label;
  readonly env?: Readonly<Record<string, string>>;
  readonly secretEnv?: Readonly<Record<string, string>>;
  readonly workdir?: string;
  readonly maxProcesses?: number;
  readonly memoryMiB?: number;
  readonly signal?: AbortSignal;
}

export async function createTestNode(options: Omit<NodeProcessesOptions, 'directory'> = {}): Promise<TestNode> {
  const root = mkdtempSync(join(tmpdir(), 'runyard-node-'));
  const processes = createNodeProcesses({ ...options, directory: root });
  const host = createNodeHost(processes);
  const bell = join(root, 'bell');
  const exits = await createExitWatch({ host, bell });
  const attempts: TestAttempt[] = [];
  const newAttempt = (): TestAttempt => {
    const mark = `test-${root.slice(-6)}-${attempts.length}`;
    const directory = join(root, `attempt-${attempts.length}`);
    mkdirSync(join(directory, 'work'), { recursive: true });
    const attempt = createTestAttempt({ host, bell, exits, directory, mark });
    attempts.push(attempt);
    return attempt;
  };
  const close = async (): Promise<void> => {
    for (const { mark, directory } of attempts) {
      await stopTree({ host, mark, directory, shim: null, graceMs: 0 });
      await processes.release({ mark, directory, leader: null });
    }
    exits.close();
    processes.close();
    rmSync(root, { recursive: true, force: true });
  };
  return { host, processes, root, bell, exits, newAttempt, close };
}

interface AttemptParts {
  readonly host: Host;
  readonly bell: string;
  readonly exits: ExitWatch;
  readonly directory: string;
  readonly mark: string;
}

function createTestAttempt({ host, bell, exits, directory, mark }: AttemptParts): TestAttempt {
  const workdir = join(directory, 'work');
  const start = async (command: Command, options: StartTestOptions = {}): Promise<StartRecord> => {
    const started = await startProcess({
      host,
      directory,
      label: options.label ?? 'run',
      command,
      env: { PATH: process.env.PATH ?? '', ...options.env },
      secretEnv: options.secretEnv ?? {},
      workdir: options.workdir ?? workdir,
      mark,
      maxProcesses: options.maxProcesses ?? null,
      memoryMiB: options.memoryMiB ?? null,
      bell,
      signal: options.signal ?? new AbortController().signal,
    });
    if (started === null) throw new Error('it was not to start any more');
    return started;
  };
  const waitForEnd = (record: StartRecord, label: Label = 'run'): Promise<End> =>
    exits.wait({ directory, label, nonce: record.nonce });
  const text = (name: string): string => readFileSync(join(directory, name), 'utf8');
  return {
    directory,
    workdir,
    mark,
    start,
    waitForEnd,
    text,
    run: async (command, options) => waitForEnd(await start(command, options), options?.label),
    waitForRun: async () => {
      for (;;) {
        const { claim, run } = await readRecords({ files: host.files, directory, label: 'run' });
        if (claim !== null && claim !== 'torn' && claim.kind === 'shim' && run !== null) {
          return { shim: claim.shim, command: run.process };
        }
        await pause();
      }
    },
    waitForText: async (name, wanted) => {
      while (!((await host.files.read(join(directory, name))) === null ? '' : text(name)).includes(wanted))
        await pause();
    },
  };
}

/** The event that is waited for has no better sign than a file's content, so it is looked for again and again. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 3));
}

export function script(text: string, ...args: string[]): Command {
  return { kind: 'script', text, arguments: args };
}

export function argv(...words: string[]): Command {
  return { kind: 'argv', argv: words };
}
