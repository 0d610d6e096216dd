import type { Embedded } from '../../client/embedded.ts';
import type { Link } from '../../client/remote/agent/link.ts';
import { Streams } from '../../client/remote/agent/streams.ts';
import { OrderFeed, type OrderNews } from '../../control/order-feed.ts';
import { ShareFeed } from '../../control/share-feed.ts';
import type { Node } from '../../core/node/node.ts';
import { isRefusal, type Refusal, refuse } from '../../core/refusal.ts';
import {
  type AgentHello,
  type AgentMessage,
  agentMessage,
  agentVersions,
  closeCodes,
  type ServerMessage,
} from '../../wire/agent-protocol.ts';
import { FrameQuota } from './frame-quota.ts';
import { orderMessages } from './order-messages.ts';
import { ReportQueue } from './report-queue.ts';

/** What a session needs of whoever holds all of them. */
export interface SessionHub {
  readonly embedded: Embedded;
  readonly heartbeatMs: number;
  readonly leaseMs: number;
  rejoinWithinMs(): number;
  /** The node is this session's from now on. */
  joined(session: AgentSession): void;
  gone(session: AgentSession): void;
  /** A heartbeat. */
  heard(node: string, instance: string): void;
  /** The number of the last report of this agent that was carried out; over all its connections. */
  readonly lastReports: Map<string, number>;
  /** Where the agent that speaks for the node now has its place; null where it is not known. */
  placeOf(node: string): string | null;
  /** Said what no agent says: recorded for the audit. */
  misbehaved(node: string, what: string): void;
}

const helloWithinMs = 10_000;
const mostAheadBytes = 16 * 1024 * 1024;
const sendAgainMs = 20;

/** One connection of an agent, from its hello to its end. */
export class AgentSession {
  readonly node: string;
  readonly streams: Streams;
  readonly #hub: SessionHub;
  readonly #link: Link;
  readonly #quota: FrameQuota;
  #stage: 'greeting' | 'joining' | 'joined' | 'over' = 'greeting';
  #hello: AgentHello | null = null;
  #feed: OrderFeed | null = null;
  #shares: ShareFeed | null = null;
  #reports: ReportQueue | null = null;
  #heardMs: number;
  #cancelLook: () => void;
  /** What is told of orders and not yet sent. */
  readonly #waiting: ServerMessage[] = [];
  #cancelSending: () => void = () => {};

  /** `node` is the one whose key was presented. */
  constructor(hub: SessionHub, link: Link, node: string) {
    this.node = node;
    this.#hub = hub;
    this.#link = link;
    const { clock, timers } = hub.embedded.host;
    this.streams = new Streams((frame) => link.sendBytes(frame), null);
    this.#quota = new FrameQuota({ clock, timers, link });
    this.#heardMs = clock.bootMs();
    this.#cancelLook = timers.after(helloWithinMs, () => {
      if (this.#stage === 'greeting') this.end(closeCodes.silent, 'no hello came');
    });
  }

  get instance(): string {
    return this.#hello?.node.instance ?? '';
  }

  get place(): string {
    return this.#hello?.place ?? '';
  }

  get bootId(): string {
    return this.#hello?.node.bootId ?? '';
  }

  onText(text: string): void {
    if (this.#stage === 'over') return;
    this.#heardMs = this.#hub.embedded.host.clock.bootMs();
    this.#quota.count();
    const message = readMessage(text);
    if (message === null) this.#misbehaved('a message of the wrong shape');
    else if (this.#stage === 'greeting') this.#greeted(message);
    else this.#hear(message);
  }

  #greeted(message: AgentMessage): void {
    if (message.kind !== 'hello') {
      this.#misbehaved(`${message.kind} before hello`);
      return;
    }
    this.#stage = 'joining';
    this.#inBackground(this.#join(message));
  }

  /** A connection that has ended meanwhile, perhaps with its server, is of no concern any more. */
  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      if (this.#stage === 'over') return;
      this.#hub.embedded.onFault(error);
      this.end(closeCodes.goingAway, 'the server failed');
    });
  }

  onBytes(bytes: Uint8Array): void {
    if (this.#stage === 'over') return;
    this.#heardMs = this.#hub.embedded.host.clock.bootMs();
    if (this.#stage !== 'joined' || !this.streams.receive(bytes)) this.#misbehaved('a frame of no stream');
  }

  onClose(): void {
    this.#leave('the connection of the node was lost');
  }

  /** Another agent speaks for the node now. */
  supersede(): void {
    const bootId = this.#speaker()?.bootId ?? '';
    this.#say({ kind: 'superseded', bootId, place: this.#hub.placeOf(this.node) });
    this.end(closeCodes.superseded, 'another agent has taken over the node');
  }

  #speaker(): Node | undefined {
    return this.#hub.embedded.plane.state.nodes.get(this.node);
  }

  end(code: number, reason: string): void {
    if (this.#stage === 'over') return;
    this.#leave(reason);
    this.#link.close(code, reason);
  }

  async #join(hello: AgentHello): Promise<void> {
    const { embedded } = this.#hub;
    this.#hello = hello;
    const version = agentVersions.find((one) => hello.versions.includes(one));
    if (version === undefined) return this.#refuse(noCommonVersion(hello.versions));
    if (hello.node.node !== this.node) {
      const message = `the key is that of node ${this.node}, and the agent says that it is ${hello.node.node}`;
      this.#hub.misbehaved(this.node, `hello of ${hello.node.node}`);
      return this.#refuse(refuse('NOT_ASSIGNED', message, { hint: 'give each node a join token of its own' }));
    }
    const answer = await embedded.plane.execute(
      { kind: 'JoinNode', leased: true, ...hello.node },
      { actor: { kind: 'node', name: this.node } },
    );
    if (this.#stage === 'over') return;
    if (isRefusal(answer)) return this.#refuse(answer);
    const speaker = this.#speaker();
    if (speaker === undefined) return this.end(closeCodes.goingAway, 'the node was removed');
    return speaker.instance === this.instance ? this.#joined(version) : this.supersede();
  }

  #joined(version: number): void {
    const { embedded, heartbeatMs, leaseMs, lastReports } = this.#hub;
    this.#stage = 'joined';
    this.#hub.joined(this);
    this.#hub.heard(this.node, this.instance);
    this.#reports = new ReportQueue({
      embedded,
      link: this.#link,
      node: this.node,
      instance: this.instance,
      last: lastReports,
      say: (message) => this.#say(message),
    });
    const rejoinWithinMs = this.#hub.rejoinWithinMs();
    const tell = (news: OrderNews): void => {
      this.#waiting.push(...orderMessages(news, { version, heartbeatMs, leaseMs, rejoinWithinMs }));
      this.#sendWaiting();
    };
    this.#feed = new OrderFeed(embedded.plane, this.node, tell);
    this.#shares = new ShareFeed(embedded.plane, this.node, (requests) => {
      // One a message: a box may be large.
      for (const request of requests) {
        this.#say({ kind: 'shares', requests: [{ ...request, publicKeys: [...request.publicKeys] }] });
      }
    });
    this.#cancelLook();
    this.#look();
  }

  /** No faster than they are taken: a link on which too much waits is given up. */
  #sendWaiting(): void {
    this.#cancelSending();
    while (this.#stage !== 'over') {
      if ((this.#link.waitingBytes?.() ?? 0) > mostAheadBytes) {
        this.#cancelSending = this.#hub.embedded.host.timers.after(sendAgainMs, () => this.#sendWaiting());
        return;
      }
      const message = this.#waiting.shift();
      if (message === undefined) return;
      this.#say(message);
    }
  }

  /** A connection that is only half there is ended by the one who notices. */
  #look(): void {
    const { clock, timers } = this.#hub.embedded.host;
    if (clock.bootMs() - this.#heardMs > this.#hub.leaseMs) {
      this.#leave('the node was silent');
      this.#link.abandon();
      return;
    }
    this.#cancelLook = timers.after(this.#hub.heartbeatMs, () => this.#look());
  }

  #hear(message: AgentMessage): void {
    switch (message.kind) {
      case 'hello':
        this.#misbehaved('a second hello');
        break;
      case 'report':
        this.#hub.heard(this.node, this.instance);
        this.#reports?.add(message);
        break;
      case 'heartbeat':
        this.#hub.heard(this.node, this.instance);
        this.#say({ kind: 'heard', seq: message.seq });
        break;
      case 'leave':
        this.#inBackground(this.#sayLeft());
        break;
    }
  }

  async #sayLeft(): Promise<void> {
    const { plane } = this.#hub.embedded;
    const { node, instance } = this;
    const answer = await plane.execute({ kind: 'LeaveNode', node, instance }, { actor: { kind: 'node', name: node } });
    if (isRefusal(answer)) return this.end(closeCodes.refused, answer.message);
    this.#say({ kind: 'left' });
    return this.end(1000, 'left');
  }

  #refuse(refusal: Refusal): void {
    const { code, message, hint } = refusal;
    if (code === 'STALE_ATTEMPT') {
      this.supersede();
      return;
    }
    this.#say({ kind: 'refused', code, message, hint });
    this.end(closeCodes.refused, message);
  }

  #misbehaved(what: string): void {
    this.#hub.misbehaved(this.node, what);
    this.end(closeCodes.malformed, what);
  }

  #leave(reason: string): void {
    if (this.#stage === 'over') return;
    this.#stage = 'over';
    this.#cancelLook();
    this.#quota.close();
    this.#cancelSending();
    this.#feed?.close();
    this.#shares?.close();
    this.#reports?.close();
    this.streams.close(reason);
    this.#hub.gone(this);
  }

  #say(message: ServerMessage): void {
    this.#link.sendText(JSON.stringify(message));
  }
}

function noCommonVersion(offered: readonly number[]): Refusal {
  const [ours, theirs] = [agentVersions, offered].map((versions) => versions.join(', '));
  const newer = Math.max(...offered) > Math.max(...agentVersions) ? 'server' : 'agent';
  return refuse('INCOMPATIBLE', `the agent speaks version ${theirs} of the protocol, the server version ${ours}`, {
    hint: `upgrade the ${newer}`,
  });
}

function readMessage(text: string): AgentMessage | null {
  try {
    const read = agentMessage.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
