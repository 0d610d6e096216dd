import type { Link, LinkListener } from '../../client/remote/agent/link.ts';
import type { Life } from '../life.ts';
import type { Way, Ways } from './ways.ts';

type Frame =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  /** The other side's system knows of no such connection. */
  | { readonly kind: 'reset' };

/** After its own close frame a side waits so long for the other's. */
const closeWithinMs = 30_000;
const againMs = 3000;
const lost = 1006;

/** One end of a connection: frames arrive in order or not at all, and neither side need know that the other is gone. */
export class WireEnd implements Link {
  readonly life: Life;
  #listener: LinkListener | null = null;
  readonly #ways: Ways;
  readonly #out: Way;
  #peer: WireEnd | null = null;
  #state: 'open' | 'closing' | 'closed' = 'open';
  #nextArrivalMs = 0;
  #isPaused = false;
  #isSwallowed = false;
  readonly #unread: Frame[] = [];

  constructor(ways: Ways, life: Life, out: Way) {
    this.#ways = ways;
    this.life = life;
    this.#out = out;
    // A process that ends closes its connections; a machine that loses its power does not.
    life.incarnation.onDeath(() => {
      if (this.#state !== 'closed' && life.machine.isUp) this.#send({ kind: 'reset' });
      this.#state = 'closed';
    });
  }

  static tie(one: WireEnd, other: WireEnd): void {
    one.#peer = other;
    other.#peer = one;
  }

  get isOpen(): boolean {
    return this.#state === 'open' && this.life.incarnation.alive;
  }

  /**
   * From now on nothing that is sent on this connection arrives, and no end of it either: a box in between has forgotten
   * it and yet acknowledges what comes, as proxies do, so that the sender's system sees nothing wrong.
   */
  swallow(): void {
    this.#isSwallowed = true;
    if (this.#peer !== null) this.#peer.#isSwallowed = true;
  }

  listen(listener: LinkListener): void {
    this.#listener = listener;
    this.#readOn();
  }

  sendText(text: string): void {
    if (this.#state === 'open') this.#send({ kind: 'text', text });
  }

  sendBytes(bytes: Uint8Array): void {
    if (this.#state === 'open') this.#send({ kind: 'bytes', bytes: bytes.slice() });
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.life.incarnation.after(0, () => this.#readOn());
  }

  close(code: number, reason: string): void {
    if (this.#state !== 'open') return;
    this.#send({ kind: 'close', code, reason });
    this.#state = 'closing';
    this.life.incarnation.after(closeWithinMs, () => this.#over(lost, ''));
  }

  abandon(): void {
    if (this.#state === 'closed') return;
    this.#send({ kind: 'reset' });
    this.life.incarnation.after(0, () => this.#over(lost, ''));
  }

  #send(frame: Frame): void {
    const peer = this.#peer;
    if (peer === null || this.#isSwallowed) return;
    const { world } = this.life.machine;
    const arrivalMs = Math.max(this.#nextArrivalMs, world.nowMs + this.#ways.delayMs());
    this.#nextArrivalMs = arrivalMs;
    this.#ways.send(this.#out, arrivalMs - world.nowMs, () => peer.#arrived(frame, this));
  }

  #arrived(frame: Frame, from: WireEnd): void {
    if (this.#state === 'closed' || !this.life.incarnation.alive) {
      this.#unknownHere(frame, from);
      return;
    }
    if (frame.kind === 'text' && this.#ways.happens('breakBefore')) {
      this.abandon();
      return;
    }
    this.#unread.push(frame);
    this.#readOn();
    if (frame.kind === 'text' && this.#ways.happens('breakAfter')) this.abandon();
  }

  /** A machine that is off answers nothing; one that came up since knows nothing. */
  #unknownHere(frame: Frame, from: WireEnd): void {
    const { machine } = this.life;
    if (frame.kind === 'reset' || from.#state === 'closed') return;
    if (machine.isUp) this.#ways.send(this.#out, this.#ways.delayMs(), () => from.#over(lost, ''));
    else machine.world.schedule(againMs, () => this.#arrived(frame, from));
  }

  #readOn(): void {
    while (!this.#isPaused && this.#listener !== null && this.#state !== 'closed' && this.life.incarnation.alive) {
      const frame = this.#unread.shift();
      if (frame === undefined) return;
      this.#read(frame, this.#listener);
    }
  }

  #read(frame: Frame, listener: LinkListener): void {
    switch (frame.kind) {
      case 'text':
        if (this.#state === 'open') listener.onText(frame.text);
        break;
      case 'bytes':
        if (this.#state === 'open') listener.onBytes(frame.bytes);
        break;
      case 'close':
        if (this.#state === 'open') this.#send(frame);
        this.#over(frame.code, frame.reason);
        break;
      case 'reset':
        this.#over(lost, '');
    }
  }

  #over(code: number, reason: string): void {
    if (this.#state === 'closed' || !this.life.incarnation.alive) return;
    this.#state = 'closed';
    this.#listener?.onClose(code, reason);
  }
}
