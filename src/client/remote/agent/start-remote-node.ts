import { Agent } from '../../../agent/agent.ts';
import type { Sealing } from '../../../agent/secrets/sealing.ts';
import type { BlobStore } from '../../../blobs/blob-store.ts';
import { openDirectoryStore } from '../../../blobs/directory-store.ts';
import { refuse } from '../../../core/refusal.ts';
import { sleep } from '../../../host/clock.ts';
import type { Host } from '../../../host/host.ts';
import { createNodeHost } from '../../../host/node/node-host.ts';
import { createNodeProcesses } from '../../../host/node/processes.ts';
import type { NodeOptions, RunningNode } from '../../api.ts';
import { defaultNodeName, readCapacity } from '../../capacity.ts';
import { type NodeSeat, takeSeat } from '../../node-seat.ts';
import { RefusalError } from '../../refusal-error.ts';
import { openSealing } from '../../secrets/sealing.ts';
import { version } from '../../version.ts';
import { createCachedStore } from '../cached-store.ts';
import { createHttp } from '../http.ts';
import type { ServerAddress } from '../outgoing.ts';
import type { Remote } from '../remote.ts';
import { createRemoteBlobs } from '../remote-blobs.ts';
import { addressTowards } from './address-towards.ts';
import { connectAgent } from './connect-agent.ts';
import { joinServer, type ServerChoice, useToken } from './join-server.ts';
import { LogPusher } from './log-pusher.ts';
import { type Dismissal, NetworkChannel } from './network-channel.ts';
import { readJoinedServer, writeOffer } from './node-record.ts';
import { createPatientStore } from './patient-store.ts';
import { serveStreams } from './serve-streams.ts';

export interface ServerNodeOptions {
  readonly home: string;
  readonly server: ServerChoice;
  readonly node: NodeOptions;
  /** Told when the server is lost, and when it is there again. */
  readonly onNote?: (message: string) => void;
}

/** Local copies of what tasks used are kept for so long after they came. */
const cachedMs = 24 * 3_600_000;
const tidyEveryMs = 3_600_000;

/**
 * Serves this machine as a node of a server, in this process: the agent is the one of embedded mode, with another channel.
 * Null when another process has the node's name here and the caller does not wait.
 */
export async function startServerNode(options: ServerNodeOptions): Promise<RunningNode | null> {
  const { home } = options;
  const processes = createNodeProcesses({ directory: `${home}/shim` });
  const host = createNodeHost(processes);
  const end = (): void => processes.close();
  try {
    const seat = await takeSeat({ home, host }, options.node);
    if (seat === null) {
      end();
      return null;
    }
    try {
      return await join({ host, seat, options, end });
    } catch (error) {
      await seat.release();
      throw error;
    }
  } catch (error) {
    end();
    throw error;
  }
}

/** For a client that is signed in: the node joins that client's server, by a token that is made for it where it has none. */
export async function startRemoteNode({ http, home, host }: Remote, options: NodeOptions): Promise<RunningNode | null> {
  const { url, fingerprint } = http.address;
  const name = options.name ?? defaultNodeName(host);
  const known = await readJoinedServer(host.files, `${home}/nodes/${name}`);
  if (known?.url === url) return startServerNode({ home, server: { url, fingerprint }, node: options });
  const { token } = await http.call('createToken', { body: { kind: 'join' } });
  return startServerNode({ home, server: { url, fingerprint, joinToken: token }, node: options });
}

interface Joining {
  readonly host: Host;
  readonly seat: NodeSeat;
  readonly options: ServerNodeOptions;
  readonly end: () => void;
}

/** A key or a certificate that is not known (any more) is worth another try with the token, where one was given. */
async function join(joining: Joining): Promise<RunningNode> {
  const { host, seat, options } = joining;
  const { joinToken, fingerprint = null } = options.server;
  const address = await joinServer(host, seat, options.server);
  try {
    return await serve(joining, address);
  } catch (error) {
    const isUnknown = error instanceof RefusalError && (error.code === 'UNAUTHORIZED' || error.code === 'UNTRUSTED');
    if (!isUnknown || joinToken === undefined) throw withJoinHint(error, seat.name);
    const url = options.server.url ?? address.url;
    return serve(joining, await useToken(host, seat, { url, token: joinToken, fingerprint }));
  }
}

/** What a person does about a certificate that was changed on purpose; signing in does nothing for a node. */
function withJoinHint(error: unknown, node: string): unknown {
  if (!(error instanceof RefusalError) || error.code !== 'UNTRUSTED') return error;
  const hint = `if its certificate was changed on purpose: yard tokens create --join --node ${node}, then --token-file FILE here`;
  return new RefusalError(refuse('UNTRUSTED', error.message, { hint }));
}

async function serve(joining: Joining, address: ServerAddress): Promise<RunningNode> {
  const { host, seat, options, end } = joining;
  const { name, directory, instance } = seat;
  const parts = await openParts(joining, address);
  const { store, logs, sealing, environment, failure } = parts;
  let agent: Agent | null = null;
  let starting: Promise<Agent> | null = null;
  let gpuProblem: string | null = null;
  const channel = new NetworkChannel({
    host,
    connect: (listener) => connectAgent(address, listener),
    place: await placeOf(host, directory),
    onStream: serveStreams({ host, directory, node: name, store, environment, sealing, agent: () => agent }),
    onDismissed: (dismissal) =>
      void dismiss(starting, dismissal)
        .catch((error: unknown) => error)
        .then((error) => failure.fail(error)),
    onTrouble: (trouble) =>
      options.onNote?.(trouble === null ? `${address.url} is there again` : `${trouble}; trying again`),
  });
  const letGo = (): void => {
    parts.letGo();
    channel.close();
  };
  // A server that does not answer is waited for as long as it takes, unless somebody has enough of it.
  options.node.signal?.addEventListener('abort', letGo);
  try {
    const { capacity, problem } = await readCapacity(host, options.node);
    gpuProblem = problem;
    await writeOffer(host.files, directory, capacity);
    const advertise = options.node.advertise ?? (await addressTowards(address.url));
    const own = { node: name, instance, capacity, advertise, version, directory, environment };
    const onFault = (error: unknown): void => failure.fail(error);
    starting = Agent.start({ host, channel, store, sealing, logs, onFault, ...own });
    agent = await starting;
  } catch (error) {
    letGo();
    throw error;
  }
  keepTidy({ host, logs, store, directory }, parts.signal).catch((error: unknown) => failure.fail(error));
  const running = agent;
  return {
    name,
    gpuProblem,
    failed: failure.failed,
    liveTasks: () => running.liveTasks(),
    endTasks: (job, { graceMs }) => running.endTasks(job, graceMs),
    async close() {
      try {
        await running.close({ leave: true });
      } finally {
        letGo();
        end();
        await seat.release();
      }
    },
  };
}

/** What the agent works with, beside its channel. */
interface Parts {
  readonly store: BlobStore;
  readonly logs: LogPusher;
  readonly sealing: Sealing;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly failure: ReturnType<typeof createFailure>;
  /** Aborts with `letGo`. */
  readonly signal: AbortSignal;
  letGo(): void;
}

async function openParts({ host, seat, options }: Joining, address: ServerAddress): Promise<Parts> {
  const { name, directory } = seat;
  const over = new AbortController();
  const { signal } = over;
  const http = createHttp(address, host);
  const local = await openDirectoryStore({ directory: `${directory}/blobs`, host });
  const cached = createCachedStore(local, createRemoteBlobs(http, { host, temporary: `${directory}/incoming` }));
  const logs = new LogPusher({
    host,
    directory,
    node: name,
    push: ({ task, file, offset, droppedFrom, bytes }) =>
      http.call('pushLog', {
        params: { task, file },
        query: { offset, ...(droppedFrom === null ? {} : { droppedFrom }) },
        body: bytes,
        signal,
      }),
  });
  return {
    store: createPatientStore(cached, host.timers, signal),
    logs,
    sealing: await openSealing(options.home),
    environment: { ...process.env },
    failure: createFailure(),
    signal,
    letGo() {
      over.abort();
      logs.end();
      http.close();
    },
  };
}

/**
 * Where another agent that cannot adopt them speaks for the node, this one's tasks end with it (reliability.md, Rejoin).
 * One that took over here has ended, as this one has the node's seat: it came late, and this one begins anew.
 */
async function dismiss(starting: Promise<Agent> | null, { refusal, elsewhere }: Dismissal): Promise<Error> {
  if (!elsewhere && refusal.code === 'STALE_ATTEMPT') {
    const message = 'what an agent that ran here before had sent came late: this one must start anew';
    return new RefusalError(refuse('WRONG_STATE', message, { hint: 'yard up does so by itself' }));
  }
  // It may come while the agent is about to begin.
  if (elsewhere) await (await starting)?.endAll(0);
  return new RefusalError(refusal);
}

/** Of two copies of a machine each has another: the boot, and the very directory. */
async function placeOf({ clock, files, machine }: Host, directory: string): Promise<string> {
  const inode = (await files.stat(directory))?.inode ?? 0;
  return `${clock.bootId()} ${machine.hostname().slice(0, 64)} ${inode}`;
}

function createFailure(): { readonly failed: Promise<Error>; fail(error: unknown): void } {
  let fail = (_error: Error): void => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  return { failed, fail: (error) => fail(error instanceof Error ? error : new Error(String(error))) };
}

interface Tidied {
  readonly host: Host;
  readonly logs: LogPusher;
  readonly store: { collectGarbage(options: { keep: ReadonlySet<string>; graceMs: number }): Promise<unknown> };
  readonly directory: string;
}

/** What the server has by now, and copies that nobody used for long, leave this disk. */
async function keepTidy({ host, logs, store, directory }: Tidied, signal: AbortSignal): Promise<void> {
  await logs.catchUp();
  while (!signal.aborted) {
    await removePushed(host, directory);
    await store.collectGarbage({ keep: new Set(), graceMs: cachedMs });
    await sleep(host.timers, tidyEveryMs, signal);
  }
}

async function removePushed({ files, clock }: Host, directory: string): Promise<void> {
  for (const { name } of (await files.list(`${directory}/ended`)) ?? []) {
    const pushed = await files.stat(`${directory}/ended/${name}/pushed`);
    if (pushed !== null && clock.wallMs() - pushed.mtimeMs > tidyEveryMs)
      await files.remove(`${directory}/ended/${name}`);
  }
}
