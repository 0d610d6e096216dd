import {
  decodeCredit,
  decodeStreamFrame,
  encodeCredit,
  encodeStreamFrame,
  type FrameKind,
  firstCreditBytes,
} from '../../../wire/stream-frames.ts';

/** What one end of a stream hears from the other. */
export interface StreamListener {
  /** One message. What was taken of it is given back by `taken`, or no more than the first credit ever comes. */
  onData(bytes: Uint8Array): void;
  onEnd(): void;
  /** Broken off by the other side, or with the connection. */
  onReset(reason: string): void;
  /** All that was given to `send` is on its way: more may be given. */
  onDrained(): void;
}

/** One end of a stream. */
export interface StreamEnd {
  /** Bytes given to `send` that the other side has not allowed yet. */
  readonly waitingBytes: number;
  send(bytes: Uint8Array): void;
  /** So many bytes of what was heard are dealt with: the other side may send as many more. */
  taken(bytes: number): void;
  /** No more from this side. */
  end(): void;
  reset(reason: string): void;
}

/** Told what the other side opens a stream for; null for what is not known. */
export type OnOpen = (purpose: string, stream: StreamEnd) => StreamListener | null;

/** No message is longer, so that the first credit lets any through. */
export const longestMessageBytes = 64 * 1024;
const mostStreams = 1000;

/** All streams of one connection. */
export class Streams {
  readonly #sendFrame: (frame: Uint8Array) => void;
  readonly #onOpen: OnOpen | null;
  readonly #open = new Map<number, Stream>();
  #next = 1;

  /** `onOpen` is null where only this side opens streams. */
  constructor(sendFrame: (frame: Uint8Array) => void, onOpen: OnOpen | null) {
    this.#sendFrame = sendFrame;
    this.#onOpen = onOpen;
  }

  /** Null when there are too many. `listen` sends nothing yet. */
  open(purpose: string, listen: (stream: StreamEnd) => StreamListener): StreamEnd | null {
    if (this.#open.size >= mostStreams) return null;
    const id = this.#next++;
    const stream = this.#add(id, listen);
    this.#send(id, 'open', new TextEncoder().encode(purpose));
    return stream;
  }

  /** Takes a binary frame; false when it is none. */
  receive(bytes: Uint8Array): boolean {
    const frame = decodeStreamFrame(bytes);
    if (frame === null) return false;
    if (frame.kind === 'open') return this.#opened(frame.stream, new TextDecoder().decode(frame.payload));
    // One that has ended here already may still be spoken to.
    this.#open.get(frame.stream)?.receive(frame.kind, frame.payload);
    return true;
  }

  /** The connection is gone. */
  close(reason: string): void {
    for (const stream of [...this.#open.values()]) stream.receive('reset', new TextEncoder().encode(reason));
  }

  #opened(id: number, purpose: string): boolean {
    const onOpen = this.#onOpen;
    if (onOpen === null || this.#open.has(id)) return false;
    if (this.#open.size >= mostStreams) {
      this.#send(id, 'reset', new TextEncoder().encode('too many streams are open'));
      return true;
    }
    let isKnown = true;
    const stream = this.#add(id, (end) => {
      const listener = onOpen(purpose, end);
      isKnown = listener !== null;
      return listener ?? deaf;
    });
    if (!isKnown) stream.reset('this agent does not know what the stream is for');
    return true;
  }

  #add(id: number, listen: (stream: StreamEnd) => StreamListener): Stream {
    const stream = new Stream({
      send: (kind, payload) => this.#send(id, kind, payload),
      onGone: () => this.#open.delete(id),
    });
    this.#open.set(id, stream);
    stream.listen(listen(stream));
    return stream;
  }

  #send(stream: number, kind: FrameKind, payload: Uint8Array): void {
    this.#sendFrame(encodeStreamFrame({ stream, kind, payload }));
  }
}

const deaf: StreamListener = { onData() {}, onEnd() {}, onReset() {}, onDrained() {} };

interface StreamParts {
  readonly send: (kind: FrameKind, payload: Uint8Array) => void;
  readonly onGone: () => void;
}

class Stream implements StreamEnd {
  readonly #parts: StreamParts;
  readonly #waiting: Uint8Array[] = [];
  #listener: StreamListener = deaf;
  #waitingBytes = 0;
  /** Bytes that this side may still send, and those that it may still be sent. */
  #maySendBytes = firstCreditBytes;
  #mayHearBytes = firstCreditBytes;
  #ending: 'no' | 'asked' | 'sent' = 'no';
  #heardEnd = false;
  #gone = false;

  constructor(parts: StreamParts) {
    this.#parts = parts;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  listen(listener: StreamListener): void {
    this.#listener = listener;
  }

  send(bytes: Uint8Array): void {
    if (this.#gone || this.#ending !== 'no') return;
    if (bytes.length > longestMessageBytes) throw new Error(`a message of ${bytes.length} bytes on a stream`);
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#flush();
  }

  taken(bytes: number): void {
    if (this.#gone || bytes === 0) return;
    this.#mayHearBytes += bytes;
    this.#parts.send('credit', encodeCredit(bytes));
  }

  end(): void {
    if (this.#gone || this.#ending !== 'no') return;
    this.#ending = 'asked';
    this.#flush();
  }

  reset(reason: string): void {
    if (this.#gone) return;
    this.#parts.send('reset', new TextEncoder().encode(reason.slice(0, 1000)));
    this.#leave();
  }

  receive(kind: Exclude<FrameKind, 'open'>, payload: Uint8Array): void {
    if (this.#gone) return;
    switch (kind) {
      case 'data':
        this.#mayHearBytes -= payload.length;
        if (this.#mayHearBytes < 0 || this.#heardEnd) this.#breakOff('more was sent than was allowed');
        else this.#listener.onData(payload);
        break;
      case 'credit':
        this.#maySendBytes += decodeCredit(payload);
        this.#flush();
        break;
      case 'end':
        this.#heardEnd = true;
        this.#listener.onEnd();
        if (this.#ending === 'sent') this.#leave();
        break;
      case 'reset':
        this.#leave();
        this.#listener.onReset(new TextDecoder().decode(payload));
        break;
    }
  }

  #flush(): void {
    const had = this.#waiting.length > 0;
    for (
      let next = this.#waiting[0];
      next !== undefined && next.length <= this.#maySendBytes;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift();
      this.#waitingBytes -= next.length;
      this.#maySendBytes -= next.length;
      this.#parts.send('data', next);
    }
    if (this.#waiting.length > 0) return;
    if (this.#ending === 'asked') {
      this.#ending = 'sent';
      this.#parts.send('end', new Uint8Array());
      if (this.#heardEnd) this.#leave();
    } else if (had) this.#listener.onDrained();
  }

  #breakOff(reason: string): void {
    this.reset(reason);
    this.#listener.onReset(reason);
  }

  #leave(): void {
    this.#gone = true;
    this.#waiting.length = 0;
    this.#waitingBytes = 0;
    this.#parts.onGone();
  }
}
