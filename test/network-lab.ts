import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endHome, type Finished, follow, markedPids, type Running, until, yardPath } from './lab.ts';

/**
 * Several hosts on one machine: each a network namespace with an address of its own, joined by a bridge that stands in
 * a namespace too. Nothing of it touches the machine's own network. Links are cut and spoilt by packet filters inside
 * the namespaces, so that one direction can fail alone.
 */
export interface NetworkLab {
  /** Adds a host with a home of its own. */
  addHost(name: string): LabHost;
  /** Nothing that `from` sends reaches `to`; the other way stays as it is. */
  cutOneWay(from: LabHost, to: LabHost): void;
  cut(one: LabHost, other: LabHost): void;
  /** So many of a hundred packets that arrive at the host are lost. */
  lose(host: LabHost, percent: number): void;
  /** Every link of the host works again. */
  heal(host: LabHost): void;
  /** Ends what was started in it and takes the namespaces away. */
  close(): Promise<void>;
}

export interface LabHost {
  readonly name: string;
  readonly address: string;
  readonly home: string;
  /** A folder to work in. */
  readonly folder: string;
  yard(args: readonly string[], options?: HostOptions): Promise<Finished>;
  start(args: readonly string[], options?: HostOptions): Running;
  /**
   * A way to a port of another host on which every byte takes so long, in both directions: an address on this host's
   * own loopback. Packets cannot be delayed by every kernel; what goes through a relay can.
   */
  slowWayTo(other: LabHost, port: number, delayMs: number): Promise<string>;
  /** Any program, in the host's network. */
  program(command: readonly string[], options?: HostOptions): Running;
}

export interface HostOptions {
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Null where hosts can be made; otherwise why not, for the title of what is skipped. */
export function whyNoNetworkLab(): string | null {
  if (process.platform !== 'linux') return 'network namespaces are a thing of Linux';
  if (process.getuid?.() !== 0) return 'only root can make network namespaces';
  for (const program of ['ip', 'nft', 'nsenter']) {
    if (spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0) return `there is no ${program} here`;
  }
  const name = `yard-try-${process.pid}`;
  const made = spawnSync('ip', ['netns', 'add', name]).status === 0;
  const filters =
    made && spawnSync('nsenter', [`--net=/run/netns/${name}`, 'nft', 'add', 'table', 'inet', 'try']).status === 0;
  if (made) spawnSync('ip', ['netns', 'del', name]);
  return filters ? null : 'this kernel makes no network namespaces with packet filters';
}

let labs = 0;

export function openNetworkLab(): NetworkLab {
  labs += 1;
  const prefix = `yard${process.pid}-${labs}`;
  const root = mkdtempSync(join(tmpdir(), 'runyard-network-'));
  const hosts: Host[] = [];
  const bridge = `${prefix}-net`;
  run('ip', 'netns', 'add', bridge);
  inside(bridge, 'ip', 'link', 'add', 'br0', 'type', 'bridge');
  inside(bridge, 'ip', 'link', 'set', 'br0', 'up');
  const hostOf = (host: LabHost): Host => {
    const found = hosts.find((one) => one.lab === host);
    if (found === undefined) throw new Error(`${host.name} is no host of this lab`);
    return found;
  };
  return {
    addHost(name) {
      const host = makeHost({ name, number: hosts.length + 1, prefix, bridge, root });
      hosts.push(host);
      return host.lab;
    },
    cutOneWay: (from, to) => dropFrom(hostOf(to).namespace, from.address),
    cut(one, other) {
      dropFrom(hostOf(one).namespace, other.address);
      dropFrom(hostOf(other).namespace, one.address);
    },
    lose: (host, percent) =>
      filter(hostOf(host).namespace, 'numgen', 'random', 'mod', '100', '<', String(percent), 'drop'),
    heal(host) {
      const { namespace } = hostOf(host);
      inside(namespace, 'nft', 'flush', 'chain', 'inet', 'lab', 'input');
      // What others were told to drop of it is lifted there, and only that.
      for (const other of hosts) liftDrops(other.namespace, host.address);
    },
    async close() {
      for (const host of hosts) await host.end();
      for (const { namespace } of hosts) run('ip', 'netns', 'del', namespace);
      run('ip', 'netns', 'del', bridge);
      rmSync(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
}

interface Host {
  readonly lab: LabHost;
  readonly namespace: string;
  end(): Promise<void>;
}

function makeHost(options: { name: string; number: number; prefix: string; bridge: string; root: string }): Host {
  const { name, number, prefix, bridge, root } = options;
  const namespace = `${prefix}-${number}`;
  const address = `10.77.0.${number}`;
  const home = join(root, name, 'home');
  const folder = join(root, name, 'work');
  for (const directory of [home, folder]) mkdirSync(directory, { recursive: true, mode: 0o700 });
  connect({ namespace, bridge, number, address });
  const started = new Set<Running>();
  const program = (command: readonly string[], { input, env, cwd }: HostOptions = {}): Running => {
    const child = spawn('nsenter', [`--net=/run/netns/${namespace}`, ...command], {
      cwd: cwd ?? folder,
      env: { ...process.env, RUNYARD_HOME: home, NO_COLOR: '1', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end(input ?? '');
    const running = follow(child);
    started.add(running);
    void running.finished.finally(() => started.delete(running));
    return running;
  };
  const start: LabHost['start'] = (args, more) => program([process.execPath, yardPath, ...args], more);
  return {
    namespace,
    lab: {
      name,
      address,
      home,
      folder,
      program,
      start,
      yard: (args, more) => start(args, more).finished,
      async slowWayTo(other, port, delayMs) {
        const relay = program([process.execPath, '-e', relayProgram, other.address, String(port), String(delayMs)]);
        await relay.printed(/^\d+$/m);
        return `127.0.0.1:${relay.stdout().trim()}`;
      },
    },
    async end() {
      for (const running of started) kill(running.child);
      await Promise.all([...started].map((running) => running.finished));
      await endHome(home);
      await until(() => markedPids(home).length === 0, `the end of the tasks of ${name}`);
    },
  };
}

/** Passes bytes on after a while, and the end of a connection after the bytes before it. */
const relayProgram = `
const net = require('net');
const [host, port, delayMs] = process.argv.slice(1);
const later = (work) => setTimeout(work, Number(delayMs));
const server = net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ host, port: Number(port), allowHalfOpen: true });
  for (const [from, to] of [[near, far], [far, near]]) {
    from.on('data', (bytes) => later(() => to.write(bytes)));
    from.on('end', () => later(() => to.end()));
    from.on('error', () => to.destroy());
  }
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

function connect(link: { namespace: string; bridge: string; number: number; address: string }): void {
  const { namespace, bridge, number, address } = link;
  run('ip', 'netns', 'add', namespace);
  inside(bridge, 'ip', 'link', 'add', `port${number}`, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', namespace);
  inside(bridge, 'ip', 'link', 'set', `port${number}`, 'master', 'br0', 'up');
  inside(namespace, 'ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0');
  inside(namespace, 'ip', 'link', 'set', 'eth0', 'up');
  inside(namespace, 'ip', 'link', 'set', 'lo', 'up');
  inside(namespace, 'nft', 'add', 'table', 'inet', 'lab');
  inside(namespace, 'nft', 'add chain inet lab input { type filter hook input priority 0; }');
}

function dropFrom(namespace: string, address: string): void {
  filter(namespace, 'ip', 'saddr', address, 'drop');
}

function filter(namespace: string, ...rule: readonly string[]): void {
  inside(namespace, 'nft', 'add', 'rule', 'inet', 'lab', 'input', ...rule);
}

function liftDrops(namespace: string, address: string): void {
  const rules = execFileSync(
    'nsenter',
    [`--net=/run/netns/${namespace}`, 'nft', '-a', 'list', 'chain', 'inet', 'lab', 'input'],
    { encoding: 'utf8' },
  );
  for (const [, handle] of rules.matchAll(
    new RegExp(`saddr ${address.replaceAll('.', '\\.')} drop # handle (\\d+)`, 'g'),
  ))
    inside(namespace, 'nft', 'delete', 'rule', 'inet', 'lab', 'input', 'handle', handle ?? '');
}

function inside(namespace: string, ...command: readonly string[]): void {
  run('nsenter', `--net=/run/netns/${namespace}`, ...command);
}

function run(program: string, ...args: readonly string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

function kill(child: ChildProcess): void {
  child.kill('SIGKILL');
}
