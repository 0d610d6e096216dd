import { afterEach, describe, expect, it } from 'vitest';
import { writeStreamEvent } from '../../wire/http/event-stream.ts';
import type { EventView } from '../api.ts';
import { RefusalError } from '../refusal-error.ts';
import { createHttp, type Http } from './http.ts';
import { readStream } from './read-stream.ts';
import {
  breakOff,
  hangUp,
  hurriedHost,
  type Rough,
  type RoughServer,
  refusal,
  startRoughServer,
} from './rough-server.testsuite.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function open(...answers: readonly Rough[]): Promise<{ http: Http; server: RoughServer; notes: string[] }> {
  const server = await startRoughServer(...answers);
  const notes: string[] = [];
  const address = { url: server.url, fingerprint: server.fingerprint, token: null };
  const http = createHttp(address, hurriedHost(), { onNote: (message) => notes.push(message) });
  closing.push(
    () => server.close(),
    () => http.close(),
  );
  return { http, server, notes };
}

const event = (seq: number, message = `event ${seq}`): EventView => ({
  seq,
  at: '2026-01-01T00:00:00.000Z',
  kind: 'JobEnded',
  by: null,
  job: null,
  node: null,
  service: null,
  message,
  fact: {},
});
const piece = (seq: number, message?: string): string =>
  writeStreamEvent({ kind: 'piece', id: String(seq), data: JSON.stringify(event(seq, message)) });
const end = writeStreamEvent({ kind: 'end', id: null, data: '{}' });

async function seqs(events: AsyncIterable<EventView>): Promise<number[]> {
  const found: number[] = [];
  for await (const { seq } of events) found.push(seq);
  return found;
}

describe('a stream of a server', () => {
  it('goes on behind the last event that arrived, through cuts in the middle of one, and ends when it says so', async () => {
    const { http, server } = await open(
      breakOff(piece(1) + piece(2) + piece(3).slice(0, 20)),
      hangUp,
      breakOff(piece(3)),
      breakOff(piece(4) + end),
    );
    expect(await seqs(readStream(http, 'events', { query: { follow: true }, endless: true }))).toEqual([1, 2, 3, 4]);
    expect(server.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '2', '3']);
  });

  it('waits for a server that is away for long, says so once, and says when it is back', async () => {
    const away = Array.from({ length: 90 }, () => hangUp);
    const { http, notes } = await open(breakOff(piece(1)), ...away, breakOff(piece(2) + end));
    expect(await seqs(readStream(http, 'events', { query: { follow: true }, endless: true }))).toEqual([1, 2]);
    expect(notes).toEqual([
      expect.stringMatching(/^127.0.0.1:\d+ cannot be reached: .*; trying again$/),
      'the server answers again',
    ]);
  });

  it('keeps characters whole wherever the bytes are cut', async () => {
    const text = 'größer → 漢字';
    const bytes = Buffer.from(piece(1, text) + end);
    const drip: Rough = (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const byte of bytes) response.write(Buffer.of(byte));
      response.end();
    };
    const { http } = await open(drip);
    for await (const { message } of readStream(http, 'events', { query: {} })) expect(message).toBe(text);
  });

  it('ends without a word when its signal aborts, also while the server is away', async () => {
    const { http } = await open(breakOff(piece(1)), hangUp);
    const stop = new AbortController();
    const found: number[] = [];
    for await (const { seq } of readStream(http, 'events', { query: {}, endless: true, signal: stop.signal })) {
      found.push(seq);
      setTimeout(() => stop.abort(), 20);
    }
    expect(found).toEqual([1]);
  });

  it('lets go of the connection when nobody reads on', async () => {
    let closed: () => void = () => {};
    const gone = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const { http } = await open((response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(piece(1));
      response.on('close', closed);
    });
    for await (const { seq } of readStream(http, 'events', { query: { follow: true }, endless: true })) {
      expect(seq).toBe(1);
      break;
    }
    await gone;
  });

  it('keeps no question waiting, however many there are', async () => {
    const { http } = await open((response, { url }) => {
      if (url.startsWith('/v1/events'))
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(piece(1));
      else response.writeHead(200).end(JSON.stringify({ name: 'ada', admin: false, projects: {} }));
    });
    const streams = Array.from({ length: 40 }, () => readStream(http, 'events', { query: { follow: true } }));
    await Promise.all(streams.map((stream) => stream.next()));
    expect((await http.call('whoami', {})).name).toBe('ada');
    await Promise.all(streams.map((stream) => stream.return(undefined)));
  });

  it('throws what the server refuses, before it begins and in its middle', async () => {
    const failed = { error: { code: 'NOT_FOUND', message: 'it was pruned', hint: null, path: null } };
    const wrong = writeStreamEvent({ kind: 'error', id: null, data: JSON.stringify(failed) });
    const { http } = await open(breakOff(piece(1) + wrong), refusal(403, { code: 'FORBIDDEN', message: 'not yours' }));
    const reading = seqs(readStream(http, 'events', { query: {} }));
    await expect(reading).rejects.toThrow(
      new RefusalError({ refused: true, code: 'NOT_FOUND', message: 'it was pruned', hint: null, path: null }),
    );
    await expect(seqs(readStream(http, 'events', { query: {} }))).rejects.toThrow('not yours');
  });
});
