import { Agent } from '../../agent/agent.ts';
import type { BlobStore } from '../../blobs/blob-store.ts';
import { openDirectoryStore } from '../../blobs/directory-store.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { type LogPiece, LogPusher } from '../../client/remote/agent/log-pusher.ts';
import { type Dismissal, NetworkChannel } from '../../client/remote/agent/network-channel.ts';
import { createPatientStore } from '../../client/remote/agent/patient-store.ts';
import type { ControlPlane } from '../../control/control-plane.ts';
import { system } from '../../core/access/principal.ts';
import type { Command } from '../../core/command.ts';
import type { Capacity } from '../../core/node/node.ts';
import { isRefusal } from '../../core/refusal.ts';
import { toHex } from '../../host/hex.ts';
import { blobDirectory, type Cluster } from '../cluster.ts';
import { KeptProgram } from '../kept-program.ts';
import type { Life } from '../life.ts';
import type { Machine } from '../machine.ts';
import type { NodeProgram } from '../strikes.ts';
import { publicKeyOf, virtualSealing } from '../virtual-sealing.ts';
import type { ServedNetwork } from './network.ts';
import type { PushedLogs } from './pushed-logs.ts';

/** A machine with a node of a server, and whoever keeps its agent running. */
export class ServedNode extends KeptProgram implements NodeProgram {
  readonly capacity: Capacity;
  readonly #network: ServedNetwork;
  #isRetired = false;
  #instance = '';

  constructor(
    cluster: Cluster,
    network: ServedNetwork,
    options: { name: string; machine: Machine; capacity: Capacity },
  ) {
    super(cluster, { ...options, role: 'agent' });
    this.#network = network;
    this.capacity = options.capacity;
  }

  get plane(): ControlPlane | null {
    return this.#network.serving?.plane ?? null;
  }

  /** The agent that runs, or the last that did. */
  get instance(): string {
    return this.#instance;
  }

  /** Another machine speaks for the node now, and everything here was ended: nobody starts it again. */
  override get isRetired(): boolean {
    return this.#isRetired;
  }

  protected override pauseMs(): number {
    const { random } = this.cluster;
    return random.pick([30, 30, 500, 5000, 30_000]) * random.fraction();
  }

  protected override async serve(life: Life): Promise<void> {
    try {
      await this.#join(life);
    } catch (error) {
      if (!(error instanceof RefusalError)) throw error;
      this.#end(life, `is refused: ${error.code}`);
    }
  }

  #end(life: Life, why: string): void {
    if (!life.incarnation.alive) return;
    this.cluster.world.note(this.name, why);
    life.incarnation.kill();
  }

  async #join(life: Life): Promise<void> {
    const { name, capacity } = this;
    const { host, fail } = life;
    const directory = `/node/${name}`;
    await host.files.makeDirectory(directory, { mode: 0o700 });
    const keyHash = await this.#keyOf(life, directory);
    const instance = toHex(host.chance.bytes(8));
    this.#instance = instance;
    const over = new AbortController();
    let starting: Promise<Agent> | null = null;
    const channel = new NetworkChannel({
      host,
      connect: (listener) => this.#network.connect(life, { node: name, keyHash }, listener),
      place: `${host.clock.bootId()} ${this.machine.name}`,
      onStream: () => null,
      onDismissed: (dismissal) => void this.#dismissed(life, starting, dismissal).catch(fail),
      onTrouble: (trouble) => this.cluster.world.note(name, trouble ?? 'has its server again'),
    });
    const logs = new LogPusher({
      host,
      directory,
      node: name,
      push: (piece) => this.#network.request(life, async () => this.#take(piece)),
    });
    starting = Agent.start({
      host,
      channel,
      logs,
      sealing: virtualSealing(publicKeyOf(keyHash)),
      store: createPatientStore(await this.#store(life), host.timers, over.signal),
      directory,
      node: name,
      instance,
      capacity,
      advertise: this.machine.name,
      version: '0.0.0',
      environment: { PATH: '/bin' },
      onFault: fail,
    });
    const started = await starting;
    logs.catchUp().catch(fail);
    this.closeBy(async () => {
      await started.close({ leave: true });
      logs.end();
      over.abort();
    });
  }

  #take(piece: LogPiece): ReturnType<PushedLogs['take']> {
    const { logs } = this.cluster.history;
    if (logs === null) throw new Error('a served cluster has logs');
    return logs.take(piece);
  }

  /** A key of its own, made known by a join token that somebody gives it, as long as nobody else has the name. */
  async #keyOf(life: Life, directory: string): Promise<string> {
    const { files, chance, digests } = life.host;
    const path = `${directory}/key`;
    const kept = await files.read(path);
    const key = kept ?? chance.bytes(16);
    const keyHash = digests.sha256(key);
    if (kept === null) await files.writeAtomic(path, key, { mode: 0o600, sync: true });
    await this.#network.request(life, async ({ plane }) => {
      if (plane.state.access.nodeKeys.has(this.name)) return;
      const token = toHex(chance.bytes(8));
      const create = { kind: 'CreateJoinToken', token, hash: keyHash, lifetimeMs: 600_000, node: this.name, by: 'ada' };
      const use = { kind: 'UseJoinToken', token, node: this.name, keyHash };
      // Both at once: the server may be asked to end before an answer, and then takes no more.
      const commands = [create, use] as readonly Command[];
      for (const answer of await Promise.all(commands.map((command) => plane.execute(command, { actor: system })))) {
        if (isRefusal(answer)) throw new RefusalError(answer);
      }
    });
    return keyHash;
  }

  /** The server's blobs, which are out of reach while the server is. */
  async #store(life: Life): Promise<BlobStore> {
    const store = await openDirectoryStore({ directory: blobDirectory, host: life.host });
    const reach = (): Promise<void> => this.#network.request(life, () => Promise.resolve());
    const far = <Result>(work: () => Promise<Result>): Promise<Result> => reach().then(work);
    return {
      missing: (hashes) => far(() => store.missing(hashes)),
      put: (bytes, expected) => far(() => store.put(bytes, expected)),
      putMany: (blobs) => far(() => store.putMany(blobs)),
      putFile: (path) => far(() => store.putFile(path)),
      get: (hash) => far(() => store.get(hash)),
      getMany: (hashes) => far(() => store.getMany(hashes)),
      extract: (hash, path, options) => far(() => store.extract(hash, path, options)),
      collectGarbage: (options) => store.collectGarbage(options),
    };
  }

  /** Nobody looks after this machine any more: whatever is left of the node runs as a second copy of what runs elsewhere. */
  #retire(): void {
    this.#isRetired = true;
    const { world, history } = this.cluster;
    const own = `/node/${this.name}/attempts/`;
    for (const { role, pid, logsIn, unkillableUntilMs } of this.machine.table.processes()) {
      if (logsIn?.startsWith(own) !== true || unkillableUntilMs > world.nowMs) continue;
      history.overdue.push(`${this.name} was dismissed and left the ${role} ${pid} in ${logsIn}`);
    }
  }

  /** As the real agent's program does (start-remote-node.ts): what another agent cannot adopt ends with this one. */
  async #dismissed(life: Life, starting: Promise<Agent> | null, { refusal, elsewhere }: Dismissal): Promise<void> {
    this.cluster.history.refusals.push(refusal);
    this.cluster.world.note(this.name, `is dismissed${elsewhere ? ' for another machine' : ''}: ${refusal.code}`);
    if (elsewhere) {
      await (await starting)?.endAll(0);
      if (life.incarnation.alive) this.#retire();
    }
    this.#end(life, 'ends');
  }
}
