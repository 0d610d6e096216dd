import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const bundle = 'node_modules/.cache/yard-test';
/** The command as it was bundled. */
export const yardPath = join(root, bundle, 'yard.js');

/** Bundles the command as it is shipped, once for a whole test file. */
export function buildYard(): void {
  execFileSync(process.execPath, ['scripts/build.mjs', bundle], { cwd: root, stdio: 'inherit' });
}

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A `yard` that runs: what it has said so far, and its end. */
export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves once stdout and stderr together match; rejects when it ends without that. */
  readonly said: (pattern: RegExp) => Promise<string>;
}

/** A home and a directory to work in, both of this test alone. */
export interface Place {
  readonly home: string;
  readonly directory: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly start: (...args: readonly string[]) => Running;
  readonly yard: (...args: readonly string[]) => Promise<Ended>;
  readonly remove: () => void;
}

export function makePlace(more: Readonly<Record<string, string>> = {}): Place {
  const base = mkdtempSync(join(tmpdir(), 'yard-cli-'));
  const home = join(base, 'home');
  const directory = join(base, 'work');
  mkdirSync(directory);
  const environment = {
    PATH: process.env.PATH ?? '',
    HOME: base,
    RUNYARD_HOME: home,
    CANARY: 'of this shell',
    ...more,
  };
  const start = (...args: readonly string[]): Running =>
    follow(spawn(process.execPath, [yardPath, ...args], { cwd: directory, env: environment }));
  return {
    home,
    directory,
    environment,
    start,
    yard: (...args) => {
      const running = start(...args);
      running.child.stdin?.end();
      return running.ended;
    },
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}

function follow(child: ChildProcess): Running {
  const said = { stdout: '', stderr: '' };
  const listeners = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
      for (const listener of listeners) listener();
    });
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, ...said }));
  });
  return {
    child,
    ended,
    said: (pattern) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const all = said.stdout + said.stderr;
          if (pattern.test(all)) resolve(all);
        };
        listeners.add(look);
        ended.then(() => reject(new Error(`it ended without ${pattern}:\n${said.stdout}${said.stderr}`)), reject);
        look();
      }),
  };
}
