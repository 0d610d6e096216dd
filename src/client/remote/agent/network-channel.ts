import type { AgentChannel, Hello, OrderNews } from '../../../agent/channel.ts';
import type { NodeReport } from '../../../core/command.ts';
import type { TaskKey } from '../../../core/job/job.ts';
import { type Refusal, type RefusalCode, refusals, refuse } from '../../../core/refusal.ts';
import type { ShareRequest } from '../../../core/secrets/shares.ts';
import { sleep } from '../../../host/clock.ts';
import type { Host } from '../../../host/host.ts';
import {
  type AgentMessage,
  agentVersions,
  closeCodes,
  longestFrameBytes,
  mostEventsPerReport,
  type ServerMessage,
  serverMessage,
} from '../../../wire/agent-protocol.ts';
import { RefusalError } from '../../refusal-error.ts';
import type { Link, LinkListener } from './link.ts';
import { type StreamEnd, type StreamListener, Streams } from './streams.ts';

export interface NetworkChannelOptions {
  readonly host: Pick<Host, 'clock' | 'timers' | 'chance'>;
  /** Opens a connection; a RefusalError is final, any other failure is tried again. */
  readonly connect: (listener: LinkListener) => Promise<Link>;
  /** Says in what directory of which machine the agent works. */
  readonly place: string;
  /** What the server opens a stream for; null for what is not known. */
  readonly onStream: (purpose: string, stream: StreamEnd) => StreamListener | null;
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

type Report = Omit<NodeReport, 'kind' | 'node' | 'instance'>;

interface Outstanding {
  readonly message: Extract<AgentMessage, { kind: 'report' }>;
  readonly resolve: (stale: readonly TaskKey[]) => void;
  readonly reject: (error: Error) => void;
}

/** One connection, from its hello on. */
interface Session {
  readonly link: Link;
  readonly streams: Streams;
  welcomed: boolean;
  /** When the heartbeats that were not answered yet were sent, by number; counted from the sending (reliability.md). */
  readonly sentMs: Map<number, number>;
  heardMs: number;
  ended: boolean;
  /** Of the wait for the welcome, then for the next heartbeat. */
  cancelTimer: () => void;
}

const firstPauseMs = 250;
const longestPauseMs = 5000;
const welcomeWithinMs = 30_000;
const leaveWithinMs = 5000;

/** So many heartbeats without an answer, and the connection is taken to be dead. */
const missedHeartbeats = 3;

/**
 * The agent's way to a control plane behind a server. It connects again for as long as it takes: orders are told as a
 * whole at each connect, and a report is repeated until it is answered, so that what gets lost on the way loses nothing.
 */
export class NetworkChannel implements AgentChannel {
  readonly #options: NetworkChannelOptions;
  readonly #closed = new AbortController();
  #hello: (() => Promise<Hello>) | null = null;
  #session: Session | null = null;
  #listener: ((news: OrderNews) => void) | null = null;
  #unheard: OrderNews[] = [];
  #shareListener: ((requests: readonly ShareRequest[]) => void) | null = null;
  #unheardShares: ShareRequest[] = [];
  #outstanding: Outstanding | null = null;
  #seq = 0;
  #heartbeats = 0;
  #heartbeatMs = 5000;
  #rejoinWithinMs = 0;
  #joined: { readonly resolve: () => void; readonly reject: (error: Error) => void } | null = null;
  #left: (() => void) | null = null;
  #isTroubled = false;

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
    this.#listener = listener;
    for (const news of this.#unheard.splice(0)) listener(news);
    return () => {
      this.#listener = () => {};
    };
  }

  followShares(listener: (requests: readonly ShareRequest[]) => void): () => void {
    this.#shareListener = listener;
    const unheard = this.#unheardShares.splice(0);
    if (unheard.length > 0) listener(unheard);
    return () => {
      this.#shareListener = () => {};
    };
  }

  async report(report: Report): Promise<readonly TaskKey[]> {
    const stale: TaskKey[] = [];
    for (const part of splitReport(report)) stale.push(...(await this.#reportPart(part)));
    return stale;
  }

  /** Without a connection the node is left as a crash leaves it: its lease ends. */
  async leave(): Promise<void> {
    const session = this.#session;
    if (session?.welcomed === true) {
      const left = new Promise<void>((resolve) => {
        this.#left = resolve;
      });
      this.#say(session, { kind: 'leave' });
      const patience = new AbortController();
      await Promise.race([left, sleep(this.#options.host.timers, leaveWithinMs, patience.signal)]);
      patience.abort();
    }
    this.close();
  }

  /** Lets go of the server without a word to it. */
  close(): void {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort('closed');
    this.#session?.link.close(1000, 'the agent ends');
    this.#outstanding?.reject(new Error('the agent ends'));
    this.#outstanding = null;
  }

  #reportPart(part: Report): Promise<readonly TaskKey[]> {
    if (this.#closed.signal.aborted) return Promise.reject(new Error('the agent ends'));
    this.#seq += 1;
    // What one version of the core says more than this one knows is left to the schema of the other side.
    const message = { kind: 'report', seq: this.#seq, ...part } as Outstanding['message'];
    return new Promise((resolve, reject) => {
      this.#outstanding = { message, resolve, reject };
      if (this.#session?.welcomed === true) this.#say(this.#session, message);
    });
  }

  async #stayConnected(): Promise<void> {
    const { host } = this.#options;
    let pauseMs = firstPauseMs;
    while (!this.#closed.signal.aborted) {
      const outcome = await this.#connectOnce();
      if (outcome === 'dismissed' || this.#closed.signal.aborted) return;
      if (outcome === 'was-connected') pauseMs = firstPauseMs;
      const spreadMs = outcome === 'was-connected' ? this.#rejoinWithinMs : 0;
      await sleep(host.timers, host.chance.fraction() * (spreadMs + pauseMs), this.#closed.signal);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }

  /** Resolves when the connection has ended. */
  async #connectOnce(): Promise<'failed' | 'was-connected' | 'dismissed'> {
    let end = (_how: { code: number; reason: string }): void => {};
    const ended = new Promise<{ code: number; reason: string }>((resolve) => {
      end = resolve;
    });
    let session: Session | null = null;
    try {
      const link = await this.#options.connect({
        onText: (text) => {
          if (session !== null) this.#hear(session, text);
        },
        onBytes: (bytes) => {
          if (session !== null && !session.streams.receive(bytes)) this.#malformed(session, 'a binary frame');
        },
        onClose: (code, reason) => {
          if (session !== null) session.ended = true;
          end({ code, reason });
        },
      });
      session = this.#open(link);
      await this.#greet(session);
      const { reason } = await ended;
      this.#endSession(session, reason);
      if (!this.#closed.signal.aborted) this.#trouble(reason === '' ? 'the connection was lost' : reason);
      return session.welcomed ? 'was-connected' : 'failed';
    } catch (error) {
      if (session !== null) this.#endSession(session, 'failed');
      if (error instanceof RefusalError) {
        const { code, message, hint } = error;
        this.#dismiss({ refusal: refuse(code, message, { hint }), elsewhere: false });
        return 'dismissed';
      }
      this.#trouble(error instanceof Error ? error.message : String(error));
      return 'failed';
    }
  }

  #open(link: Link): Session {
    const streams = new Streams((frame) => link.sendBytes(frame), this.#options.onStream);
    const session: Session = {
      link,
      streams,
      welcomed: false,
      sentMs: new Map(),
      heardMs: this.#options.host.clock.bootMs(),
      ended: false,
      cancelTimer: () => {},
    };
    this.#session = session;
    if (this.#closed.signal.aborted) link.close(1000, 'the agent ends');
    return session;
  }

  async #greet(session: Session): Promise<void> {
    const { host, place } = this.#options;
    const hello = await this.#hello?.();
    if (hello === undefined || session.ended) return;
    const node = { ...hello, wallMs: host.clock.wallMs() };
    session.link.sendText(JSON.stringify({ kind: 'hello', versions: agentVersions, place, node }));
    session.cancelTimer = host.timers.after(welcomeWithinMs, () => session.link.abandon());
  }

  #endSession(session: Session, reason: string): void {
    session.ended = true;
    session.cancelTimer();
    session.streams.close(reason);
    if (this.#session === session) this.#session = null;
  }

  #hear(session: Session, text: string): void {
    const message = readMessage(text);
    if (message === null) return this.#malformed(session, text.slice(0, 200));
    switch (message.kind) {
      case 'welcome':
        return this.#welcomed(session, message);
      case 'refused':
        return this.#refused(session, message);
      case 'superseded':
        return this.#superseded(session, message);
      case 'orders':
        return this.#tell(message);
      case 'shares':
        if (this.#shareListener === null) this.#unheardShares.push(...message.requests);
        else this.#shareListener(message.requests);
        return;
      case 'reported':
      case 'report-refused':
        return this.#answered(message);
      case 'heard':
        session.heardMs = session.sentMs.get(message.seq) ?? session.heardMs;
        session.sentMs.delete(message.seq);
        return;
      case 'left':
        this.#left?.();
        return;
    }
  }

  #welcomed(session: Session, message: Extract<ServerMessage, { kind: 'welcome' }>): void {
    session.welcomed = true;
    session.cancelTimer();
    session.heardMs = this.#options.host.clock.bootMs();
    this.#heartbeatMs = message.heartbeatMs;
    this.#rejoinWithinMs = message.rejoinWithinMs;
    if (this.#isTroubled) this.#options.onTrouble(null);
    this.#isTroubled = false;
    if (this.#outstanding !== null) this.#say(session, this.#outstanding.message);
    this.#tell({ kind: 'all', orders: message.orders });
    this.#beat(session);
    this.#joined?.resolve();
    this.#joined = null;
  }

  /** Renews the lease; notices a connection that is only half there. */
  #beat(session: Session): void {
    const { host } = this.#options;
    if (session.ended || this.#session !== session) return;
    const nowMs = host.clock.bootMs();
    if (nowMs - session.heardMs > missedHeartbeats * this.#heartbeatMs) {
      session.link.abandon();
      return;
    }
    this.#heartbeats += 1;
    session.sentMs.set(this.#heartbeats, nowMs);
    this.#say(session, { kind: 'heartbeat', seq: this.#heartbeats });
    session.cancelTimer = host.timers.after(this.#heartbeatMs, () => this.#beat(session));
  }

  #tell(news: OrderNews | Extract<ServerMessage, { kind: 'orders' }>): void {
    const told: OrderNews = news.kind === 'orders' ? { kind: 'changes', changes: news.changes } : news;
    if (this.#listener === null) this.#unheard.push(told);
    else this.#listener(told);
  }

  #answered(message: Extract<ServerMessage, { kind: 'reported' | 'report-refused' }>): void {
    const outstanding = this.#outstanding;
    if (outstanding === null || outstanding.message.seq !== message.seq) return;
    this.#outstanding = null;
    if (message.kind === 'reported') outstanding.resolve(message.stale);
    else outstanding.reject(new RefusalError(refusalOf(message)));
  }

  #refused(session: Session, message: Extract<ServerMessage, { kind: 'refused' }>): void {
    const refusal = refusalOf(message);
    if (passes.has(refusal.code)) {
      session.link.close(1000, refusal.message);
      return;
    }
    this.#dismiss({ refusal, elsewhere: false });
  }

  #superseded(session: Session, message: Extract<ServerMessage, { kind: 'superseded' }>): void {
    session.link.close(1000, 'superseded');
    const { host, place } = this.#options;
    // Of one that took over long ago the server may know no more than the boot of its machine.
    const elsewhere = message.place === null ? message.bootId !== host.clock.bootId() : message.place !== place;
    const where = elsewhere ? 'on another machine, or a copy of this one' : 'here';
    const refusal = refuse('STALE_ATTEMPT', `another agent has taken over the node, ${where}`, {
      hint: 'give each machine a node of its own: yard up --name NAME with a join token of its own',
    });
    this.#dismiss({ refusal, elsewhere });
  }

  #dismiss(dismissal: Dismissal): void {
    const joined = this.#joined;
    this.#joined = null;
    this.close();
    if (joined !== null) joined.reject(new RefusalError(dismissal.refusal));
    else this.#options.onDismissed(dismissal);
  }

  #malformed(session: Session, what: string): void {
    this.#trouble(`the server said what this agent does not understand: ${what}`);
    session.link.close(closeCodes.malformed, 'not understood');
  }

  #trouble(trouble: string): void {
    if (this.#isTroubled) return;
    this.#isTroubled = true;
    this.#options.onTrouble(trouble);
  }

  #say(session: Session, message: AgentMessage): void {
    session.link.sendText(JSON.stringify(message));
  }
}

/** Into reports that each fit into a frame: what is not of events goes with the first. */
function splitReport({ events, released, ...rest }: Report): readonly Report[] {
  const parts: Report[] = [];
  let part: NodeReport['events'][number][] = [];
  let sizeBytes = 0;
  for (const event of events) {
    const eventBytes = JSON.stringify(event).length;
    if (part.length === mostEventsPerReport || (part.length > 0 && sizeBytes + eventBytes > longestFrameBytes)) {
      parts.push({ events: part, released: [] });
      [part, sizeBytes] = [[], 0];
    }
    part.push(event);
    sizeBytes += eventBytes;
  }
  for (let at = 0; at === 0 || at < released.length; at += mostEventsPerReport) {
    parts.push({ events: at === 0 ? part : [], released: released.slice(at, at + mostEventsPerReport) });
  }
  return parts.map((one, position) => (position === 0 ? { ...one, ...rest } : one));
}

/** Refusals that pass by themselves: the agent comes again. */
const passes: ReadonlySet<RefusalCode> = new Set<RefusalCode>(['STORE_FULL', 'READ_ONLY']);

function readMessage(text: string): ServerMessage | null {
  try {
    const read = serverMessage.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function refusalOf({ code, message, hint }: { code: string; message: string; hint: string | null }): Refusal {
  return refuse(isKnownCode(code) ? code : 'BAD_REQUEST', message, { hint });
}

function isKnownCode(code: string): code is RefusalCode {
  return Object.hasOwn(refusals, code);
}
