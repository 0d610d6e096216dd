import type { AgentChannel, Hello, OrderNews } from '../../../agent/channel.ts';
import type { TaskKey } from '../../../core/job/job.ts';
import type { Order } from '../../../core/node/orders.ts';
import { type Refusal, type RefusalCode, refusals, refuse } from '../../../core/refusal.ts';
import type { ShareRequest } from '../../../core/secrets/shares.ts';
import { sleep } from '../../../host/clock.ts';
import type { Host } from '../../../host/host.ts';
import { type AgentMessage, agentVersions, type ServerMessage } from '../../../wire/agent-protocol.ts';
import { RefusalError } from '../../refusal-error.ts';
import { Connection } from './connection.ts';
import type { Link, LinkListener } from './link.ts';
import { type Report, splitReport } from './split-report.ts';
import type { OnOpen } from './streams.ts';

export interface NetworkChannelOptions {
  readonly host: Pick<Host, 'clock' | 'timers' | 'chance'>;
  /** Opens a connection; a RefusalError is final (but for a stranger's, once joined), any other failure is tried again. */
  readonly connect: (listener: LinkListener) => Promise<Link>;
  /** Says in what directory of which machine the agent works. */
  readonly place: string;
  /** What the server opens a stream for; null for what is not known. */
  readonly onStream: OnOpen;
  /** The server will not have this agent any more; it has to end. */
  readonly onDismissed: (dismissal: Dismissal) => void;
  /** Told when the server is lost, and with null when it is there again. */
  readonly onTrouble: (trouble: string | null) => void;
}

/** `elsewhere`: the agent that took over is on another machine or in another directory, and cannot adopt what runs here. */
export interface Dismissal {
  readonly refusal: Refusal;
  readonly elsewhere: boolean;
}

interface Outstanding {
  readonly message: Extract<AgentMessage, { kind: 'report' }>;
  readonly resolve: (stale: readonly TaskKey[]) => void;
  readonly reject: (error: Error) => void;
}

const firstPauseMs = 250;
const longestPauseMs = 5000;
const leaveWithinMs = 5000;

/**
 * The agent's way to a control plane behind a server. It connects again for as long as it takes: orders are told as a
 * whole at each connect, and a report is repeated until it is answered, so that what gets lost on the way loses nothing.
 */
export class NetworkChannel implements AgentChannel {
  readonly #options: NetworkChannelOptions;
  readonly #closed = new AbortController();
  readonly #orders = new Mailbox<OrderNews>();
  readonly #shares = new Mailbox<readonly ShareRequest[]>();
  #hello: (() => Promise<Hello>) | null = null;
  #connection: Connection | null = null;
  #outstanding: Outstanding | null = null;
  #seq = 0;
  /** What has come of a welcome that is too long for one message. */
  #standing: Order[] = [];
  #rejoinWithinMs = 0;
  #joined: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #left: () => void = () => {};
  /** The trouble that was told last; null while there is none. */
  #told: string | null = null;

  constructor(options: NetworkChannelOptions) {
    this.#options = options;
  }

  join(hello: () => Promise<Hello>): Promise<void> {
    this.#hello = hello;
    return new Promise((resolve, reject) => {
      this.#joined = { resolve, reject };
      void this.#stayConnected();
    });
  }

  follow(listener: (news: OrderNews) => void): () => void {
    return this.#orders.open(listener);
  }

  followShares(listener: (requests: readonly ShareRequest[]) => void): () => void {
    return this.#shares.open(listener);
  }

  async report(report: Report): Promise<readonly TaskKey[]> {
    const stale: TaskKey[] = [];
    for (const part of splitReport(report)) stale.push(...(await this.#reportPart(part)));
    return stale;
  }

  /** Without a connection the node is left as a crash leaves it: its lease ends. */
  async leave(): Promise<void> {
    const connection = this.#connection;
    if (connection?.isWelcome === true) {
      const left = new Promise<void>((resolve) => {
        this.#left = resolve;
      });
      connection.say({ kind: 'leave' });
      const patience = new AbortController();
      await Promise.race([left, connection.ended, sleep(this.#options.host.timers, leaveWithinMs, patience.signal)]);
      patience.abort();
    }
    this.close();
  }

  /** Lets go of the server without a word to it. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort('closed');
    this.#connection?.close(1000, 'the agent ends');
    this.#outstanding?.reject(new Error('the agent ends'));
    this.#outstanding = null;
    this.#joined?.reject(new Error('the agent ends'));
    this.#joined = null;
  }

  #reportPart(part: Report): Promise<readonly TaskKey[]> {
    if (this.#closed.signal.aborted) return Promise.reject(new Error('the agent ends'));
    this.#seq += 1;
    // What a node may not say, and what is too long, is for the server's schema to find.
    const message = { kind: 'report', seq: this.#seq, ...part } as Outstanding['message'];
    return new Promise((resolve, reject) => {
      this.#outstanding = { message, resolve, reject };
      if (this.#connection?.isWelcome === true) this.#connection.say(message);
    });
  }

  async #stayConnected(): Promise<void> {
    const { host } = this.#options;
    let pauseMs = firstPauseMs;
    while (!this.#closed.signal.aborted) {
      const wasWelcome = await this.#connectOnce();
      if (wasWelcome) pauseMs = firstPauseMs;
      const spreadMs = wasWelcome ? this.#rejoinWithinMs : 0;
      await sleep(host.timers, host.chance.fraction() * (spreadMs + pauseMs), this.#closed.signal);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }

  /** Resolves when the connection has ended, or none came about: true if the server had taken the node on it. */
  async #connectOnce(): Promise<boolean> {
    const { host, connect, onStream } = this.#options;
    this.#standing = [];
    try {
      const connection = await Connection.open({ host, connect, onStream, hear: (message) => this.#hear(message) });
      this.#connection = connection;
      await this.#greet(connection);
      const reason = await connection.ended;
      this.#connection = null;
      if (!this.#closed.signal.aborted) this.#trouble(reason === '' ? 'the connection was lost' : reason);
      return connection.wasWelcome;
    } catch (error) {
      this.#connection = null;
      if (!(error instanceof RefusalError)) this.#trouble(error instanceof Error ? error.message : String(error));
      else if (this.#isStranger(error)) this.#trouble(error.message, this.#told !== error.message);
      else this.#dismiss(refusalOf(error), false);
      return false;
    }
  }

  /** Whoever answers in the server's place for a while was told nothing, and must not end an agent that is at work. */
  #isStranger(error: RefusalError): boolean {
    return error.code === 'UNTRUSTED' && this.#joined === null;
  }

  async #greet(connection: Connection): Promise<void> {
    const { host, place } = this.#options;
    const hello = await this.#hello?.();
    if (this.#closed.signal.aborted || hello === undefined) {
      connection.close(1000, 'the agent ends');
      return;
    }
    const node = { ...hello, wallMs: host.clock.wallMs() };
    connection.say({ kind: 'hello', versions: [...agentVersions], place, node } as AgentMessage);
  }

  #hear(message: ServerMessage): void {
    switch (message.kind) {
      case 'standing':
        this.#standing.push(...message.orders);
        break;
      case 'welcome':
        this.#welcomed(message);
        break;
      case 'refused':
        this.#refused(refusalOf(message));
        break;
      case 'superseded':
        this.#superseded(message);
        break;
      case 'orders':
        this.#orders.put({ kind: 'changes', changes: message.changes });
        break;
      case 'shares':
        this.#shares.put(message.requests);
        break;
      case 'reported':
      case 'report-refused':
        this.#answered(message);
        break;
      case 'left':
        this.#left();
        break;
      case 'heard':
        break;
    }
  }

  #welcomed(message: Extract<ServerMessage, { kind: 'welcome' }>): void {
    this.#rejoinWithinMs = message.rejoinWithinMs;
    if (this.#told !== null) this.#options.onTrouble(null);
    this.#told = null;
    if (this.#outstanding !== null) this.#connection?.say(this.#outstanding.message);
    this.#orders.put({ kind: 'all', orders: [...this.#standing.splice(0), ...message.orders] });
    this.#joined?.resolve();
    this.#joined = null;
  }

  #answered(message: Extract<ServerMessage, { kind: 'reported' | 'report-refused' }>): void {
    const outstanding = this.#outstanding;
    if (outstanding === null || outstanding.message.seq !== message.seq) return;
    this.#outstanding = null;
    if (message.kind === 'reported') outstanding.resolve(message.stale);
    else outstanding.reject(new RefusalError(refusalOf(message)));
  }

  #refused(refusal: Refusal): void {
    if (passes.has(refusal.code)) this.#connection?.close(1000, refusal.message);
    else this.#dismiss(refusal, false);
  }

  #superseded(message: Extract<ServerMessage, { kind: 'superseded' }>): void {
    const { host, place } = this.#options;
    // Of one that took over long ago the server may know no more than the boot of its machine.
    const elsewhere = message.place === null ? message.bootId !== host.clock.bootId() : message.place !== place;
    const where = elsewhere ? 'on another machine, or in a copy of this one' : 'here';
    const hint = 'give each machine a node of its own: yard up --name NAME with a join token of its own';
    this.#dismiss(refuse('STALE_ATTEMPT', `another agent has taken over the node, ${where}`, { hint }), elsewhere);
  }

  #dismiss(refusal: Refusal, elsewhere: boolean): void {
    const joined = this.#joined;
    this.#joined = null;
    this.close();
    if (joined !== null) joined.reject(new RefusalError(refusal));
    else this.#options.onDismissed({ refusal, elsewhere });
  }

  /** Told once until the server is there again, unless it is news. */
  #trouble(trouble: string, isNews = this.#told === null): void {
    if (!isNews) return;
    this.#told = trouble;
    this.#options.onTrouble(trouble);
  }
}

/** Keeps what comes before somebody listens. */
class Mailbox<Item> {
  #listener: ((item: Item) => void) | null = null;
  readonly #kept: Item[] = [];

  put(item: Item): void {
    if (this.#listener === null) this.#kept.push(item);
    else this.#listener(item);
  }

  open(listener: (item: Item) => void): () => void {
    this.#listener = listener;
    for (const item of this.#kept.splice(0)) listener(item);
    return () => {
      this.#listener = () => {};
    };
  }
}

/** Refusals that pass by themselves: the agent comes again. */
const passes: ReadonlySet<RefusalCode> = new Set<RefusalCode>(['STORE_FULL', 'READ_ONLY']);

function refusalOf(told: { readonly code: string; readonly message: string; readonly hint: string | null }): Refusal {
  const code = Object.hasOwn(refusals, told.code) ? (told.code as RefusalCode) : 'BAD_REQUEST';
  return refuse(code, told.message, { hint: told.hint });
}
