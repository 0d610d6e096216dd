import type { Embedded } from '../../client/embedded.ts';
import type { Link, LinkListener } from '../../client/remote/agent/link.ts';
import type { StreamEnd, StreamListener } from '../../client/remote/agent/streams.ts';
import type { LeaseTimes } from '../../core/node/lease-times.ts';
import type { Node } from '../../core/node/node.ts';
import { closeCodes } from '../../wire/agent-protocol.ts';
import { AgentSession, type SessionHub } from './agent-session.ts';

export interface AgentHubOptions {
  /** Acts for the server itself. */
  readonly embedded: Embedded;
  readonly times: LeaseTimes;
  /** Told of every heartbeat. */
  readonly heard: (node: string, instance: string) => void;
}

/** After the server was away its agents come back over this long, each one of them adding a little. */
const spreadPerAgentMs = 20;
const longestSpreadMs = 10_000;
const mostRemembered = 10_000;
const auditEveryMs = 60_000;

/** All agents that are connected to this server. */
export class AgentHub implements SessionHub {
  readonly embedded: Embedded;
  readonly lastReports = new Map<string, number>();
  readonly #options: AgentHubOptions;
  readonly #sessions = new Map<string, AgentSession>();
  readonly #greeting = new Set<AgentSession>();
  readonly #audited = new Map<string, number>();

  readonly #unsubscribe: () => void;

  constructor(options: AgentHubOptions) {
    this.#options = options;
    this.embedded = options.embedded;
    this.#unsubscribe = options.embedded.plane.subscribe(({ facts }) => {
      for (const fact of facts) {
        if (fact.kind === 'NodeRemoved') this.#lockOut(fact.node, 'the node was removed');
        if (fact.kind === 'NodeAdmitted') this.#lockOut(fact.node, 'the node has another key');
        if (fact.kind === 'NodeJoined') this.#takenOver(fact.node);
      }
    });
  }

  get heartbeatMs(): number {
    return this.#options.times.heartbeatMs;
  }

  get leaseMs(): number {
    return this.#options.times.leaseMs;
  }

  /** Nodes whose agent is connected. */
  get connected(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** Takes a connection on which the key of `node` was presented; tell the listener of everything that comes in on it. */
  accept(link: Link, node: string): LinkListener {
    const session = new AgentSession(this, link, node);
    this.#greeting.add(session);
    return {
      onText: (text) => session.onText(text),
      onBytes: (bytes) => session.onBytes(bytes),
      onClose: () => session.onClose(),
    };
  }

  /** Opens a stream to a node's agent; null when it is not connected, or has too many. */
  openStream(node: string, purpose: string, listen: (stream: StreamEnd) => StreamListener): StreamEnd | null {
    return this.#sessions.get(node)?.streams.open(purpose, listen) ?? null;
  }

  /** Ends every connection, so that the agents come again as soon as there is a server. */
  close(): void {
    this.#unsubscribe();
    for (const session of [...this.#greeting, ...this.#sessions.values()]) {
      session.end(closeCodes.goingAway, 'the server stops');
    }
  }

  /** The key that was presented on its connection is worth nothing any more; the agent learns that when it comes again. */
  #lockOut(node: string, reason: string): void {
    this.#sessions.get(node)?.end(closeCodes.goingAway, reason);
  }

  rejoinWithinMs(): number {
    return Math.min(longestSpreadMs, this.#sessions.size * spreadPerAgentMs);
  }

  joined(session: AgentSession): void {
    this.#greeting.delete(session);
    const before = this.#sessions.get(session.node);
    this.#sessions.set(session.node, session);
    before?.end(closeCodes.goingAway, 'the agent has connected again');
  }

  /**
   * The log says who speaks for a node, and that may be an agent that is gone: what one sent that was killed can come
   * late, and how the commit of its join ended may show later still. Another that is connected would not be heard any
   * more and must know.
   */
  #takenOver(node: string): void {
    const session = this.#sessions.get(node);
    if (session?.instance !== this.#speaker(node)?.instance) session?.supersede();
  }

  #speaker(node: string): Node | undefined {
    return this.embedded.plane.state.nodes.get(node);
  }

  gone(session: AgentSession): void {
    this.#greeting.delete(session);
    if (this.#sessions.get(session.node) === session) this.#sessions.delete(session.node);
    // Those of agents that have long been replaced are of no use; what they could repeat changes nothing anyway.
    for (const instance of this.lastReports.keys()) {
      if (this.lastReports.size <= mostRemembered) break;
      this.lastReports.delete(instance);
    }
  }

  heard(node: string, instance: string): void {
    this.#options.heard(node, instance);
  }

  placeOf(node: string): string | null {
    const instance = this.#speaker(node)?.instance;
    const all = [this.#sessions.get(node), ...this.#greeting];
    return all.find((session) => session?.node === node && session.instance === instance)?.place ?? null;
  }

  /** Once a minute and node: whoever floods the server with nonsense does not flood its log. */
  misbehaved(node: string, what: string): void {
    const { plane, host, onFault } = this.embedded;
    const nowMs = host.clock.bootMs();
    if (nowMs - (this.#audited.get(node) ?? Number.NEGATIVE_INFINITY) < auditEveryMs) return;
    this.#audited.set(node, nowMs);
    const refused = { who: `node ${node}`, action: 'speak', subject: what, code: 'FORBIDDEN', times: 1 } as const;
    plane.execute({ kind: 'RecordRefusal', ...refused }).catch(onFault);
  }
}
