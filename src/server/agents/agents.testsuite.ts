import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OrderNews } from '../../agent/channel.ts';
import { createVirtualTime, type VirtualTime } from '../../agent/supervision/virtual-time.testsuite.ts';
import { openDirectoryStore } from '../../blobs/directory-store.ts';
import type { Embedded } from '../../client/embedded.ts';
import type { Link, LinkListener } from '../../client/remote/agent/link.ts';
import { type Dismissal, NetworkChannel } from '../../client/remote/agent/network-channel.ts';
import type { OnOpen } from '../../client/remote/agent/streams.ts';
import { ControlPlane } from '../../control/control-plane.ts';
import { system } from '../../core/access/principal.ts';
import type { Fact } from '../../core/fact.ts';
import { leaseTimes } from '../../core/node/lease-times.ts';
import { capacityOf } from '../../core/scenario.testsuite.ts';
import type { Host } from '../../host/host.ts';
import { createNodeHost } from '../../host/node/node-host.ts';
import { createNodeProcesses } from '../../host/node/processes.ts';
import { createMemoryStore, openMemoryLog } from '../../log/memory.ts';
import { AgentHub } from './agent-hub.ts';

/** A control plane in memory with the server's end of the agents' protocol, in virtual time, and a network that can be cut. */
export interface AgentLab {
  readonly time: VirtualTime;
  readonly embedded: Embedded;
  readonly faults: unknown[];
  /** Every heartbeat that reached the server. */
  readonly heard: string[];
  hub: AgentHub;
  /** Lets a node in, as a join token does. */
  admit(node: string): Promise<void>;
  /** Ends every connection and puts a new hub on the same control plane, as a restart of the server does. */
  restartServer(): void;
  agent(node: string, options?: AgentOptions): TestAgent;
  /** A connection on which anything can be said. */
  raw(node: string): RawAgent;
  facts(): Promise<readonly Fact[]>;
  close(): Promise<void>;
}

export interface AgentOptions {
  readonly instance?: string;
  readonly bootId?: string;
  readonly place?: string;
  readonly onStream?: OnOpen;
}

export interface TestAgent {
  readonly channel: NetworkChannel;
  readonly news: OrderNews[];
  readonly dismissals: Dismissal[];
  readonly troubles: (string | null)[];
  /** Connections that it has opened. */
  readonly opened: () => number;
  join(): Promise<void>;
  /** `silent`: frames vanish in both directions, and nobody is told. `refused`: no connection comes about. */
  readonly network: { state: 'open' | 'silent' | 'refused'; drop(): void };
}

export interface RawAgent {
  readonly heard: string[];
  readonly closed: { code: number; reason: string }[];
  readonly pauses: ('pause' | 'resume')[];
  text(value: unknown): void;
  bytes(bytes: Uint8Array): void;
  /** The connection is lost, once what was said has arrived. */
  drop(): void;
}

export async function openAgentLab(): Promise<AgentLab> {
  const directory = mkdtempSync(join(tmpdir(), 'runyard-agents-'));
  const processes = createNodeProcesses({ directory: `${directory}/shim`, launcher: 'sh' });
  const time = createVirtualTime();
  const host: Host = { ...createNodeHost(processes), clock: time.clock, timers: time.timers };
  const faults: unknown[] = [];
  const log = await openMemoryLog<Fact>(createMemoryStore(), host);
  const plane = await ControlPlane.open(log, host, (error) => faults.push(error));
  const store = await openDirectoryStore({ directory: `${directory}/blobs`, host });
  const onFault = (error: unknown): void => void faults.push(error);
  const embedded: Embedded = { home: directory, host, plane, store, actor: system, onFault };
  const heard: string[] = [];
  let admitted = 0;
  const newHub = (): AgentHub => new AgentHub({ embedded, times: leaseTimes, heard: (node) => heard.push(node) });
  const lab: AgentLab = {
    time,
    embedded,
    faults,
    heard,
    hub: newHub(),
    async admit(node) {
      admitted += 1;
      const token = `join0000${admitted}`;
      const hash = host.digests.sha256(new TextEncoder().encode(`${node} ${admitted}`));
      await plane.execute({ kind: 'CreateJoinToken', token, hash, lifetimeMs: 60_000, node, by: 'ada' });
      await plane.execute({ kind: 'UseJoinToken', token, node, keyHash: hash });
    },
    restartServer() {
      lab.hub.close();
      lab.hub = newHub();
    },
    agent: (node, options) => createTestAgent(lab, node, options),
    raw: (node) => createRaw(lab, node),
    facts: async () => (await plane.log.readAfter(0)).flatMap(({ facts }) => facts),
    async close() {
      lab.hub.close();
      await plane.close();
      processes.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return lab;
}

function createTestAgent(lab: AgentLab, node: string, options: AgentOptions = {}): TestAgent {
  const { instance = 'i1', bootId = 'boot', place = 'here', onStream = () => null } = options;
  const news: OrderNews[] = [];
  const dismissals: Dismissal[] = [];
  const troubles: (string | null)[] = [];
  let opened = 0;
  let drop = (): void => {};
  const network: TestAgent['network'] = { state: 'open', drop: () => drop() };
  const channel = new NetworkChannel({
    host: lab.embedded.host,
    place,
    connect: (listener) => {
      opened += 1;
      if (network.state === 'refused') return Promise.reject(new Error('nothing listens there'));
      const pair = connectPair(lab, node, { listener, passes: () => network.state === 'open' });
      drop = pair.drop;
      return Promise.resolve(pair.link);
    },
    onStream,
    onDismissed: (dismissal) => dismissals.push(dismissal),
    onTrouble: (trouble) => troubles.push(trouble),
  });
  const hello = {
    node,
    instance,
    bootId,
    capacity: capacityOf(),
    advertise: '127.0.0.1',
    platform: 'linux',
    version: '0.1.0',
    inventory: [],
  };
  return {
    channel,
    news,
    dismissals,
    troubles,
    opened: () => opened,
    network,
    async join() {
      await channel.join(() => Promise.resolve(hello));
      channel.follow((one) => news.push(one));
    },
  };
}

function createRaw(lab: AgentLab, node: string): RawAgent {
  const raw = { heard: [] as string[], closed: [] as { code: number; reason: string }[] };
  const listener: LinkListener = {
    onText: (text) => raw.heard.push(text),
    onBytes: () => {},
    onClose: (code, reason) => raw.closed.push({ code, reason }),
  };
  const pauses: ('pause' | 'resume')[] = [];
  const pair = connectPair(lab, node, { listener, passes: () => true, pauses });
  return {
    ...raw,
    pauses,
    text: (value) => pair.link.sendText(typeof value === 'string' ? value : JSON.stringify(value)),
    bytes: (bytes) => pair.link.sendBytes(bytes),
    drop: () => queueMicrotask(() => pair.drop()),
  };
}

interface PairOptions {
  readonly listener: LinkListener;
  readonly passes: () => boolean;
  readonly pauses?: ('pause' | 'resume')[];
}

/** Two ends of one connection in memory: frames arrive in order, a turn later. */
function connectPair(
  lab: AgentLab,
  node: string,
  { listener, passes, pauses = [] }: PairOptions,
): { link: Link; drop: () => void } {
  let isOpen = true;
  const later = (work: () => void): void => {
    queueMicrotask(() => {
      if (isOpen && passes()) work();
    });
  };
  const finish = (code: number, reason: string): void => {
    if (!isOpen) return;
    isOpen = false;
    queueMicrotask(() => {
      agentSide.onClose(code, reason);
      serverSide.onClose(code, reason);
    });
  };
  const linkTo = (other: () => LinkListener): Link => ({
    sendText: (text) => later(() => other().onText(text)),
    sendBytes: (bytes) => later(() => other().onBytes(bytes)),
    pause: () => pauses.push('pause'),
    resume: () => pauses.push('resume'),
    close: (code, reason) => queueMicrotask(() => queueMicrotask(() => finish(code, reason))),
    abandon: () => finish(1006, ''),
  });
  const agentSide = listener;
  const serverSide = lab.hub.accept(
    linkTo(() => agentSide),
    node,
  );
  return { link: linkTo(() => serverSide), drop: () => finish(1006, '') };
}
