import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import type { Launch } from '../processes.ts';
import { launcherText } from './launcher-text.ts';
import { installProgram, shimPath } from './shim.ts';

const perl = '/usr/bin/perl';

export interface PerlLauncher {
  /** Resolves with true when a shim was forked; false when the launcher died first, so that nobody knows. */
  launch(launch: Launch, bootId: string, groups: readonly string[]): Promise<boolean>;
  /** Ends the launcher; the shims that it forked go on. */
  close(): void;
}

interface Running {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Answers come in the order of the questions. */
  readonly waiting: ((started: boolean) => void)[];
}

/** Null where there is no Perl. The launcher itself is started with the first launch, and again when it died; all that it forks is born in the shared groups. */
export function createPerlLauncher(directory: string, sharedGroups: () => readonly string[]): PerlLauncher | null {
  if (!existsSync(perl)) return null;
  let running: Running | null = null;
  return {
    launch: (launch, bootId, groups) => {
      running ??= startLauncher(directory, sharedGroups(), () => {
        running = null;
      });
      const { child, waiting } = running;
      return new Promise((resolve) => {
        if (waiting.length === 0) setReferenced(child, true);
        waiting.push(resolve);
        child.stdin.write(encodeLaunch(launch, bootId, groups));
      });
    },
    close: () => {
      running?.child.stdin.end();
      running = null;
    },
  };
}

function startLauncher(directory: string, groups: readonly string[], onEnd: () => void): Running {
  const program = installProgram(directory, 'launcher.pl', launcherText);
  const env = { PATH: shimPath };
  // In a session of its own, so that Ctrl-C in the agent's terminal does not reach it.
  const child = spawn(perl, [program, ...groups], { cwd: '/', detached: true, stdio: ['pipe', 'pipe', 'ignore'], env });
  const waiting: ((started: boolean) => void)[] = [];
  const settle = (started: boolean): void => {
    waiting.shift()?.(started);
    if (waiting.length === 0) setReferenced(child, false);
  };
  const end = (): void => {
    onEnd();
    while (waiting.length > 0) settle(false);
  };

  child.stdout.on('data', (answers: Buffer) => {
    for (let count = answers.length; count > 0; count -= 1) settle(true);
  });
  // Every way in which the launcher can fail ends in one of these; whoever waits is told that nobody knows.
  child.once('error', end);
  child.once('close', end);
  child.stdin.on('error', () => child.kill('SIGKILL'));
  setReferenced(child, false);
  return { child, waiting };
}

/** An idle launcher must not keep this program alive. */
function setReferenced(child: Running['child'], referenced: boolean): void {
  for (const one of [child, child.stdin, child.stdout]) {
    if (one instanceof Socket || one === child) {
      if (referenced) one.ref();
      else one.unref();
    }
  }
}

function encodeLaunch(launch: Launch, bootId: string, groups: readonly string[]): Buffer {
  const variables = Object.entries({ ...launch.env, ...launch.secretEnv }).map(([name, value]) => `${name}=${value}`);
  const place = [launch.directory, launch.label, launch.nonce, bootId, launch.bell ?? '', launch.workdir];
  const lists = [String(groups.length), ...groups, String(variables.length), ...variables, ...launch.argv];
  const fields = Buffer.from([...place, ...lists].join('\0'));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length);
  return Buffer.concat([length, fields]);
}
