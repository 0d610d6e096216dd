import { describe, expect, it } from 'vitest';
import { decodeStreamFrame, encodeStreamFrame, firstCreditBytes } from '../../../wire/stream-frames.ts';
import { type StreamEnd, type StreamListener, Streams } from './streams.ts';

const bytes = (length: number, fill = 1): Uint8Array => new Uint8Array(length).fill(fill);
const piece = 64 * 1024;

interface Heard {
  readonly data: Uint8Array[];
  readonly ends: string[];
  drained: number;
}

function listener(heard: Heard, onData: (bytes: Uint8Array) => void = () => {}): StreamListener {
  return {
    onData(one) {
      heard.data.push(one.slice());
      onData(one);
    },
    onEnd: () => heard.ends.push('end'),
    onReset: (reason) => heard.ends.push(reason),
    onDrained: () => {
      heard.drained += 1;
    },
  };
}

const newHeard = (): Heard => ({ data: [], ends: [], drained: 0 });

/** Both ends of a connection; the far side takes what it hears when told. */
function pair() {
  const [near, far] = [newHeard(), newHeard()];
  const opened: { purpose: string; stream: StreamEnd }[] = [];
  const frames: Uint8Array[] = [];
  const agent = new Streams(
    (frame) => void server.receive(frame),
    (purpose, stream) => {
      if (purpose === 'unknown') return null;
      opened.push({ purpose, stream });
      return listener(far);
    },
  );
  const server: Streams = new Streams((frame) => {
    frames.push(frame);
    agent.receive(frame);
  }, null);
  const open = (purpose: string): StreamEnd | null => server.open(purpose, () => listener(near));
  return { near, far, opened, frames, agent, server, open };
}

describe('streams within one connection', () => {
  it('carry messages in order both ways, and are gone once both sides have ended', () => {
    const { near, far, opened, open } = pair();
    const stream = open('exec');
    stream?.send(bytes(3, 7));
    opened[0]?.stream.send(bytes(2, 9));
    stream?.end();
    opened[0]?.stream.end();
    stream?.send(bytes(1));
    expect(opened[0]?.purpose).toBe('exec');
    expect(far).toMatchObject({ data: [bytes(3, 7)], ends: ['end'] });
    expect(near).toMatchObject({ data: [bytes(2, 9)], ends: ['end'] });
  });

  it('send no more than the other side has allowed, and go on when it has taken some', () => {
    const { far, opened, open } = pair();
    const stream = open('exec');
    for (let sent = 0; sent < 6; sent += 1) stream?.send(bytes(piece));
    expect(far.data.length).toBe(firstCreditBytes / piece);
    expect(stream?.waitingBytes).toBe(2 * piece);
    opened[0]?.stream.taken(piece);
    expect(far.data.length).toBe(5);
    opened[0]?.stream.taken(piece);
    expect(far.data.length).toBe(6);
    expect(stream?.waitingBytes).toBe(0);
  });

  it('hold up no other when they are not read', () => {
    const { opened, open, far } = pair();
    const slow = open('slow');
    for (let sent = 0; sent < 6; sent += 1) slow?.send(bytes(piece));
    open('quick')?.send(bytes(5));
    expect(opened.length).toBe(2);
    expect(far.data.at(-1)?.length).toBe(5);
  });

  it('are broken off by whoever sends more than was allowed', () => {
    const { agent, frames, far, open } = pair();
    open('exec');
    const [id] = frames.map((frame) => decodeStreamFrame(frame)?.stream ?? 0);
    const flood = encodeStreamFrame({ stream: id ?? 0, kind: 'data', payload: bytes(firstCreditBytes + 1) });
    expect(agent.receive(flood)).toBe(true);
    expect(far.ends).toEqual(['more was sent than was allowed']);
  });

  it('tell why they were broken off, and all end with the connection', () => {
    const { near, far, opened, agent, open } = pair();
    open('one');
    open('two');
    opened[0]?.stream.reset('enough');
    agent.close('the connection was lost');
    expect(near.ends).toEqual(['enough']);
    expect(far.ends).toEqual(['the connection was lost']);
    expect(open('unknown')).not.toBeNull();
    expect(near.ends.at(-1)).toBe('this agent does not know what the stream is for');
  });

  it('take no frame that is none, and no stream that the other side may not open', () => {
    const { server, agent } = pair();
    expect(agent.receive(new Uint8Array([1, 2]))).toBe(false);
    expect(agent.receive(new Uint8Array([0, 0, 0, 1, 99]))).toBe(false);
    const opening = encodeStreamFrame({ stream: 4, kind: 'open', payload: bytes(1) });
    expect(server.receive(opening)).toBe(false);
    expect(agent.receive(encodeStreamFrame({ stream: 77, kind: 'data', payload: bytes(9) }))).toBe(true);
  });
});
