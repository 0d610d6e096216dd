import type { Host } from '../../../host/host.ts';
import { type AgentMessage, closeCodes, type ServerMessage, serverMessage } from '../../../wire/agent-protocol.ts';
import type { Link, LinkListener } from './link.ts';
import { type OnOpen, Streams } from './streams.ts';

export interface ConnectionOptions {
  readonly host: Pick<Host, 'clock' | 'timers'>;
  readonly connect: (listener: LinkListener) => Promise<Link>;
  readonly onStream: OnOpen;
  /** Told of every message but the answers to heartbeats, in order. */
  readonly hear: (message: ServerMessage) => void;
}

const welcomeWithinMs = 30_000;
/** So many heartbeats without an answer, and the connection is taken to be dead. */
const missedHeartbeats = 3;

/** One connection of an agent to its server. It renews the lease from the welcome on, and ends itself when it is dead. */
export class Connection {
  /** Resolves with the reason when it has ended. */
  readonly ended: Promise<string>;
  readonly #options: ConnectionOptions;
  readonly #streams: Streams;
  readonly #sentMs = new Map<number, number>();
  #link: Link | null = null;
  #end: (reason: string) => void = () => {};
  #isWelcome = false;
  #isOver = false;
  #heartbeats = 0;
  /** When the last heartbeat that was answered was sent: the lease counts from there (reliability.md). */
  #heardMs = 0;
  #cancelTimer: () => void = () => {};

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#streams = new Streams((frame) => this.#link?.sendBytes(frame), options.onStream);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Rejects when none comes about. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options);
    connection.#link = await options.connect({
      onText: (text) => connection.#hear(text),
      onBytes: (bytes) => connection.#hearBytes(bytes),
      onClose: (_code, reason) => connection.#over(reason),
    });
    connection.#awaitWelcome();
    return connection;
  }

  #awaitWelcome(): void {
    this.#cancelTimer();
    this.#cancelTimer = this.#options.host.timers.after(welcomeWithinMs, () => this.#link?.abandon());
  }

  /** True from the server's welcome to the end. */
  get isWelcome(): boolean {
    return this.#isWelcome && !this.#isOver;
  }

  get wasWelcome(): boolean {
    return this.#isWelcome;
  }

  say(message: AgentMessage): void {
    if (!this.#isOver) this.#link?.sendText(JSON.stringify(message));
  }

  close(code: number, reason: string): void {
    this.#link?.close(code, reason);
  }

  #hear(text: string): void {
    if (this.#isOver) return;
    const message = readMessage(text);
    if (message === null) {
      this.close(closeCodes.malformed, 'the server said what this agent does not understand');
      return;
    }
    if (message.kind === 'heard') {
      this.#heardMs = this.#sentMs.get(message.seq) ?? this.#heardMs;
      this.#sentMs.delete(message.seq);
      return;
    }
    if (message.kind === 'standing') this.#awaitWelcome();
    if (message.kind === 'welcome') {
      this.#isWelcome = true;
      this.#cancelTimer();
      this.#heardMs = this.#options.host.clock.bootMs();
    }
    this.#options.hear(message);
    if (message.kind === 'welcome') this.#beat(message.heartbeatMs);
  }

  #hearBytes(bytes: Uint8Array): void {
    if (!this.#isOver && !this.#streams.receive(bytes)) this.close(closeCodes.malformed, 'a frame of no stream');
  }

  /** Renews the lease; notices a connection that is only half there. */
  #beat(heartbeatMs: number): void {
    const { clock, timers } = this.#options.host;
    if (this.#isOver) return;
    const nowMs = clock.bootMs();
    if (nowMs - this.#heardMs > missedHeartbeats * heartbeatMs) {
      this.#link?.abandon();
      return;
    }
    this.#heartbeats += 1;
    this.#sentMs.set(this.#heartbeats, nowMs);
    this.say({ kind: 'heartbeat', seq: this.#heartbeats });
    this.#cancelTimer = timers.after(heartbeatMs, () => this.#beat(heartbeatMs));
  }

  #over(reason: string): void {
    this.#isOver = true;
    this.#cancelTimer();
    this.#streams.close(reason === '' ? 'the connection was lost' : reason);
    this.#end(reason);
  }
}

function readMessage(text: string): ServerMessage | null {
  try {
    const read = serverMessage.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
