import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobView } from '../src/core/job/view.ts';
import type { NodeView } from '../src/core/node/view.ts';
import type { ServiceView } from '../src/core/service/view.ts';
import { type Finished, markedPids, type Running, until } from './lab.ts';
import { type LabHost, type NetworkLab, openNetworkLab } from './network-lab.ts';

/** Short enough to be waited for, and still several heartbeats long. */
const leaseTimes = ['--lease', '3s', '--grace', '4s'];

/** A server on one host, nodes on three more, and a laptop from which people work. */
export class Site {
  readonly lab: NetworkLab = openNetworkLab();
  readonly host: LabHost = this.lab.addHost('server');
  readonly nodes: readonly LabHost[] = ['n1', 'n2', 'n3'].map((name) => this.lab.addHost(name));
  readonly laptop: LabHost = this.lab.addHost('laptop');
  #server: Running | null = null;
  #env: Record<string, string> = {};

  static async open(): Promise<Site> {
    const site = new Site();
    await site.startServer();
    const token = readFileSync(join(site.host.home, 'server/admin.token'), 'utf8').trim();
    const [url = '', fingerprint = ''] = (site.#server?.stdout() ?? '').split(/\s+/);
    site.#env = { RUNYARD_SERVER: url, RUNYARD_TOKEN: `${token}@${fingerprint}` };
    for (const node of site.nodes) await site.#admit(node, fingerprint);
    return site;
  }

  async startServer(): Promise<void> {
    this.#server = this.host.start(['server', 'start', '--listen', `${this.host.address}:7443`, ...leaseTimes]);
    await this.#server.printed(/^https:/m);
  }

  async killServer(): Promise<void> {
    this.#server?.child.kill('SIGKILL');
    await this.#server?.finished;
  }

  async #admit(node: LabHost, fingerprint: string): Promise<void> {
    const made = await this.yard(['tokens', 'create', '--join', '--quiet']);
    const file = join(node.folder, 'join.token');
    writeFileSync(file, `${made.stdout.trim()}@${fingerprint}\n`, { mode: 0o600 });
    const server = ['--server', this.#env.RUNYARD_SERVER ?? '', '--token-file', file];
    await this.startAgent(node, server);
  }

  /** Once it has been admitted, a node needs no token and knows its server. */
  async startAgent(node: LabHost, server: readonly string[] = []): Promise<void> {
    const { code, stderr } = await node.yard(['up', '--name', node.name, '--cpus', '4', ...server]);
    if (code !== 0) throw new Error(`${node.name} did not come up: ${stderr}`);
  }

  /** A command of the person at the laptop. */
  yard(args: readonly string[], input?: string): Promise<Finished> {
    return this.laptop.yard(args, { env: this.#env, ...(input === undefined ? {} : { input }) });
  }

  /** Submits a job file and waits until its one process runs. Returns its id. */
  async begin(name: string, seconds: number, profile: string): Promise<string> {
    const file = `[job]\nname = "${name}"\nrun = "sleep ${seconds}"\n\n[profile]\n${profile}\n`;
    const { code, stdout, stderr } = await this.yard(['submit', '-', '--quiet'], file);
    if (code !== 0) throw new Error(stderr);
    const id = stdout.trim();
    await until(() => this.copies(seconds).length === 1, `${id} as a process`);
    return id;
  }

  async job(id: string): Promise<JobView> {
    return JSON.parse((await this.yard(['jobs', id, '--json'])).stdout) as JobView;
  }

  async service(name: string): Promise<ServiceView> {
    return JSON.parse((await this.yard(['services', name, '--json'])).stdout) as ServiceView;
  }

  async stateOf(node: LabHost): Promise<NodeView['state']> {
    return (JSON.parse((await this.yard(['nodes', node.name, '--json'])).stdout) as NodeView).state;
  }

  async untilNode(node: LabHost, state: NodeView['state']): Promise<void> {
    await until(async () => (await this.stateOf(node)) === state, `${node.name} as ${state}`);
  }

  nodeNamed(name: string | undefined): LabHost {
    const found = this.nodes.find((node) => node.name === name);
    if (found === undefined) throw new Error(`there is no node ${name}`);
    return found;
  }

  /** The processes `sleep <seconds>` that live, with the node that each is on: what is true, whatever is said. */
  copies(seconds: number): readonly { readonly pid: number; readonly node: LabHost }[] {
    return this.nodes.flatMap((node) =>
      markedPids(node.home)
        .filter((pid) => commandLine(pid) === `sleep\0${seconds}\0`)
        .map((pid) => ({ pid, node })),
    );
  }

  close(): Promise<void> {
    return this.lab.close();
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // It ended between the two looks.
    return '';
  }
}
