import { appendFileSync, mkdirSync, readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StreamEvent } from '../wire/http/event-stream.ts';
import { eventsOf, open, pick, type Served, serve } from './served.testsuite.ts';

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.end());

async function submit(name: string): Promise<string> {
  return pick(
    (await served.ask('POST', '/v1/jobs', { body: { submission: { job: { name, run: 'true' } } } })).json,
    'id',
  );
}

/** Events of a stream from an id on: all of it, or as many as are asked for before it is cut. */
async function read(path: string, from: string | null, most = Number.POSITIVE_INFINITY): Promise<StreamEvent[]> {
  const headers = from === null ? {} : { 'last-event-id': from };
  const answer = await open(served.server, { path }, { headers });
  const found: StreamEvent[] = [];
  for await (const event of eventsOf(answer)) {
    found.push(event);
    if (found.length >= most) break;
  }
  answer.destroy();
  return found;
}

/** The same, cut after every few events and gone on with behind the last one. */
async function readInPieces(path: string, each: number): Promise<StreamEvent[]> {
  const found: StreamEvent[] = [];
  for (let from: string | null = null; ; ) {
    const piece = await read(path, from, each);
    found.push(...piece);
    from = piece.findLast(({ id }) => id !== null)?.id ?? from;
    if (piece.at(-1)?.kind === 'end') return found;
  }
}

interface Written {
  readonly id: string;
  readonly write: (file: string, text: string) => void;
}

/** A node that is elsewhere, which takes whatever is placed on it. */
async function joinNode(): Promise<void> {
  await served.server.parts.embedded.plane.execute({
    kind: 'JoinNode',
    node: 'far',
    instance: 'i1',
    bootId: 'b1',
    capacity: { cpus: 1000, memoryMiB: 1_000_000, gpus: [], labels: {} },
    advertise: '127.0.0.1',
    platform: 'linux',
    version: '0.1.0',
    inventory: [],
    leased: true,
    wallMs: null,
  });
}

/** A job there, as far as its logs go. */
async function placeJob(name: string): Promise<Written> {
  await joinNode();
  return logOf(await submit(name));
}

function logOf(id: string): Written {
  const directory = `${served.home}/nodes/far/attempts/${id}.0.0.1`;
  mkdirSync(directory, { recursive: true });
  return { id, write: (file, text) => appendFileSync(`${directory}/${file}`, text) };
}

describe('streams', () => {
  it('go on behind the last event, wherever in a batch they were cut', async () => {
    for (let n = 0; n < 3; n += 1) await submit(`job${n}`);
    const whole = (await read('/v1/events', null)).map(({ data }) => data);
    expect(whole.length).toBeGreaterThan(4);
    for (const each of [1, 2, 3]) {
      const data = (await readInPieces('/v1/events', each)).map((event) => event.data);
      expect(data).toEqual(whole);
    }
    const seq = pick(JSON.parse(whole[2] ?? ''), 'seq');
    expect((await read('/v1/events', seq)).map(({ data }) => data)).toEqual(whole.slice(3));
  });

  it('tell what happens as it happens', async () => {
    const answer = await open(served.server, { path: '/v1/events?follow=true' });
    const events = eventsOf(answer);
    const id = await submit('news');
    for await (const { data } of events) if (data.includes(id)) break;
    answer.destroy();
  });

  it('say now and then that they are still there, and break off when the server stops', async () => {
    const own = await serve({ limits: { keepAliveMs: 20 } });
    const answer = await open(own.server, { path: '/v1/events?follow=true' });
    let text = '';
    for await (const part of answer as AsyncIterable<Buffer>) {
      text += String(part);
      // Both at once: the stream ends with the server, and the server waits for no stream.
      if (text.includes(': still here')) void own.end();
    }
    expect(text).not.toContain('event: end');
    await own.end();
  });

  it('end soon after the token that opened them was revoked', async () => {
    const own = await serve({ limits: { keepAliveMs: 20 } });
    const made = await own.ask('POST', '/v1/tokens', { body: { kind: 'user', user: 'eve' } });
    const answer = await open(own.server, { path: '/v1/events?follow=true' }, { token: pick(made.json, 'token') });
    const events = eventsOf(answer);
    await events.next();
    await own.ask('DELETE', `/v1/tokens/${pick(made.json, 'id')}`);
    const kinds: string[] = [];
    for await (const { kind } of events) kinds.push(kind);
    expect(kinds.at(-1)).toBe('error');
    await own.end();
  });

  it('show the state of a job again to whoever comes back', async () => {
    const id = await submit('watched');
    const [first] = await read(`/v1/jobs/${id}/watch`, null, 1);
    expect(first).toMatchObject({ kind: 'piece', id: null });
    await served.ask('POST', `/v1/jobs/${id}/stop`, { body: {} });
    const again = await read(`/v1/jobs/${id}/watch`, null);
    expect(again.map(({ kind }) => kind)).toEqual(['piece', 'end']);
    expect(JSON.parse(again[0]?.data ?? '')).toMatchObject({ id, outcome: { reason: 'stopped' } });
  });

  it('do not begin where they cannot go on', async () => {
    const answer = await open(served.server, { path: '/v1/jobs/none/watch' });
    expect(answer.statusCode).toBe(404);
    answer.destroy();
    for (const path of ['/v1/events', `/v1/jobs/${await submit('other')}/logs`]) {
      const bad = await served.ask('GET', path, { headers: { 'last-event-id': 'x:y' } });
      expect(bad).toMatchObject({ status: 400, json: { error: { path: 'Last-Event-ID' } } });
    }
  });

  it('carry a log whole through any number of cuts, and what is written meanwhile', async () => {
    const { id, write } = await placeJob('printed');
    write('setup.out', 'setting up\n');
    write('run.out', 'first\nsecond ☃');
    const path = `/v1/jobs/${id}/logs?follow=true`;
    const seen = new Map<string, Buffer[]>();
    let from: string | null = null;
    for (const [file, text] of [
      ['run.out', ' ends\n'],
      ['run.err', 'a warning\n'],
      ['run.out', 'third\n'],
      ['run.err', 'another\n'],
    ] as const) {
      const [event] = await read(path, from, 1);
      from = event?.id ?? from;
      keep(seen, event);
      write(file, text);
    }
    for (const event of await read(`/v1/jobs/${id}/logs`, from)) keep(seen, event);
    const texts = Object.fromEntries([...seen].map(([stream, parts]) => [stream, Buffer.concat(parts).toString()]));
    expect(texts).toEqual({
      [`${id} setup stdout`]: 'setting up\n',
      [`${id} run stdout`]: 'first\nsecond ☃ ends\nthird\n',
      [`${id} run stderr`]: 'a warning\nanother\n',
    });
  });

  it('carry the logs of all replicas of a service whole through any number of cuts', async () => {
    await joinNode();
    const service = { service: { name: 'web', run: 'true' }, profile: { replicas: 3 } };
    await served.ask('POST', '/v1/services', { body: { service } });
    const { json } = await served.ask('GET', '/v1/services/web');
    const replicas = (json as { replicas: { id: string }[] }).replicas.map(({ id }) => logOf(id));
    const seen = new Map<string, Buffer[]>();
    for (const { write } of replicas) write('run.out', 'first\n');
    let from: string | null = null;
    for (let round = 0; round < 6; round += 1) {
      const [event] = await read('/v1/services/web/logs?follow=true', from, 1);
      from = event?.id ?? from;
      keep(seen, event);
      replicas[round % 2]?.write('run.out', `round ${round}\n`);
    }
    for (const event of await read('/v1/services/web/logs', from)) keep(seen, event);
    const texts = [...seen].map(([key, parts]) => [key, Buffer.concat(parts).toString()] as const);
    const wanted = ['first\nround 0\nround 2\nround 4\n', 'first\nround 1\nround 3\nround 5\n', 'first\n'];
    expect(Object.fromEntries(texts)).toEqual(
      Object.fromEntries(replicas.map(({ id }, n) => [`${id} run stdout`, wanted[n]])),
    );
  });

  it('leave nothing open when their readers have gone: 200 followers of a log', async () => {
    const { id, write } = await placeJob('followed');
    write('run.out', 'first\n');
    const before = descriptors();
    const path = `/v1/jobs/${id}/logs?follow=true`;
    const answers = await Promise.all(Array.from({ length: 200 }, () => open(served.server, { path })));
    const firsts = await Promise.all(answers.map(async (answer) => (await eventsOf(answer).next()).value));
    expect(firsts.every((event) => event?.kind === 'piece')).toBe(true);
    expect(descriptors()).toBeGreaterThan(before + 200);
    for (const answer of answers) answer.destroy();
    await expect.poll(descriptors, { timeout: 10_000 }).toBeLessThanOrEqual(before + 5);
  });
});

function keep(seen: Map<string, Buffer[]>, event: StreamEvent | undefined): void {
  if (event?.kind !== 'piece') return;
  const piece = JSON.parse(event.data) as { task: { job: string }; step: string; stream: string; bytes: string };
  const { task, step, stream, bytes } = piece;
  const key = `${task.job} ${step} ${stream}`;
  seen.set(key, [...(seen.get(key) ?? []), Buffer.from(bytes, 'base64')]);
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}
