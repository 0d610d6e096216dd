import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

/** The suites of behaviour run twice: the control plane in each command's own process, or behind a server of its own. */
export const isServed = process.env.RUNYARD_TEST_MODE === 'served';

/** A server for one lab, and what the lab's commands must know of it. */
export interface ServedLab {
  readonly url: string;
  readonly token: string;
  /** What names the server to a command. */
  readonly env: Readonly<Record<string, string>>;
  /** The words that a command needs beside its own: a node must be let in once. Starts a node where one is expected to be there. */
  prepare(args: readonly string[], folder: string): readonly string[];
  end(): Promise<void>;
}

/** Starts a server over a home of its own. Returns once it listens: labs are made without waiting. */
export function startServedLab(options: { root: string; home: string; yardPath: string }): ServedLab {
  const { root, home, yardPath } = options;
  const serverHome = join(root, 'server');
  const children: { readonly child: ChildProcess; readonly name: string }[] = [];
  const launch = (name: string, args: readonly string[], env: Readonly<Record<string, string>>): string => {
    const out = join(root, `${name}.out`);
    const descriptors = [openSync(out, 'a'), openSync(join(root, `${name}.err`), 'a')] as const;
    const child = spawn(process.execPath, [yardPath, ...args], {
      cwd: root,
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', ...descriptors],
    });
    for (const descriptor of descriptors) closeSync(descriptor);
    children.push({ child, name });
    return waitForLine(out, join(root, `${name}.err`));
  };
  const said = launch('server', ['server', 'start', '--listen', '127.0.0.1:0'], { RUNYARD_HOME: serverHome });
  const [url = '', fingerprint = ''] = said.split(/\s+/);
  const token = `${readFileSync(join(serverHome, 'server/admin.token'), 'utf8').trim()}@${fingerprint}`;
  const env = { RUNYARD_SERVER: url, RUNYARD_TOKEN: token };
  let tokens = 0;
  const joinToken = (): string => {
    tokens += 1;
    const path = join(root, `join-${tokens}`);
    const words = [yardPath, 'tokens', 'create', '--join', '--quiet'];
    const text = execFileSync(process.execPath, words, {
      env: { ...process.env, RUNYARD_HOME: home, ...env },
      encoding: 'utf8',
    });
    writeFileSync(path, `${text.trim()}@${fingerprint}\n`, { mode: 0o600 });
    return path;
  };
  let hasNode = false;
  const joining = (args: readonly string[]): readonly string[] => {
    const at = args.indexOf('--name');
    const name = at < 0 ? ownName() : (args[at + 1] ?? '');
    return existsSync(join(home, 'nodes', name, 'node.key')) ? args : [...args, '--token-file', joinToken()];
  };
  return {
    url,
    token,
    env,
    prepare(args) {
      if (args[0] === 'up' || (args[0] === 'node' && args[1] === 'start')) {
        hasNode = true;
        return joining(args);
      }
      if (args[0] === 'run' && !hasNode) {
        hasNode = true;
        mkdirSync(home, { recursive: true, mode: 0o700 });
        launch('node', joining(['node', 'start']), { RUNYARD_HOME: home, ...env });
      }
      return args;
    },
    async end() {
      for (const { child } of children.reverse()) {
        const ended = new Promise<void>((done) => child.once('close', () => done()));
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill('SIGKILL');
        await ended;
      }
    },
  };
}

function ownName(): string {
  return (hostname().toLowerCase().split('.')[0] ?? '').replaceAll(/[^a-z0-9-]+/g, '-').replace(/^-+/, '') || 'node';
}

const patienceMs = 60_000;

/** The first line that it prints, waited for without letting anything else run. */
function waitForLine(out: string, err: string): string {
  const endMs = Date.now() + patienceMs;
  while (Date.now() < endMs) {
    const text = readFileSync(out, 'utf8');
    if (text.includes('\n')) return text.split('\n', 1)[0] ?? '';
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
  }
  throw new Error(`nothing was printed within a minute\n${readFileSync(err, 'utf8')}`);
}
