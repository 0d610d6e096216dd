import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { RefusalError } from '../refusal-error.ts';
import { createHttp, type Http } from './http.ts';
import {
  hangUp,
  hurriedHost,
  json,
  type Rough,
  type RoughServer,
  refusal,
  startRoughServer,
} from './rough-server.testsuite.ts';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

interface Asked {
  readonly server: RoughServer;
  readonly http: Http;
  readonly notes: readonly string[];
  readonly waitedMs: () => number;
}

async function ask(given: { answers: readonly Rough[]; fingerprint?: string | null; url?: string }): Promise<Asked> {
  const server = await startRoughServer(...given.answers);
  const host = hurriedHost();
  const notes: string[] = [];
  const fingerprint = given.fingerprint === undefined ? server.fingerprint : given.fingerprint;
  const address = { url: given.url ?? server.url, fingerprint, token: 'yt_ada_secret' };
  const http = createHttp(address, host, { onNote: (message) => notes.push(message) });
  closing.push(
    () => server.close(),
    () => http.close(),
  );
  return { server, http, notes, waitedMs: host.waitedMs };
}

async function failureOf(work: Promise<unknown>): Promise<RefusalError> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof RefusalError) return error;
  throw error ?? new Error('nothing was refused');
}

const who = { name: 'ada', admin: false, projects: { default: 'member' } };

describe('asking a server', () => {
  it('sends method, path, query, token and body as the table says', async () => {
    const { http, server } = await ask({ answers: [json({}), json({ items: [], next: null })] });
    await http.call('stopJob', { params: { id: 'a b/c' }, query: { part: 3 }, body: { graceMs: 5 } });
    await http.call('listJobs', { query: { all: true, state: 'RUNNING' } });
    expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /v1/jobs/a%20b%2Fc/stop?part=3',
      'GET /v1/jobs?all=true&state=RUNNING',
    ]);
    expect(server.seen[0]?.body).toBe('{"graceMs":5}');
    expect(server.seen[0]?.headers).toMatchObject({
      authorization: 'Bearer yt_ada_secret',
      'content-type': 'application/json',
      'idempotency-key': expect.stringMatching(/^[0-9a-f]{32}$/),
    });
    expect(server.seen[1]?.headers['idempotency-key']).toBeUndefined();
  });

  it('asks again with the same key when the connection is cut, so that nothing happens twice', async () => {
    const { http, server } = await ask({ answers: [hangUp, hangUp, json({ id: 'job-aaaaaa' })] });
    const body = { submission: { job: { name: 'job', run: 'true' } } };
    expect(await http.call('submitJob', { body })).toEqual({ id: 'job-aaaaaa' });
    const keys = server.seen.map(({ headers }) => headers['idempotency-key']);
    expect(keys).toHaveLength(3);
    expect(new Set(keys).size).toBe(1);
  });

  it('waits as long as a busy server says, and rides out its restart', async () => {
    const busy = refusal(429, { code: 'TOO_MANY', message: 'slow' }, { 'retry-after': '2' });
    const stopping = refusal(503, { code: 'STOPPING', message: 'the server is about to end' });
    const { http, waitedMs } = await ask({ answers: [json(who), busy, stopping, json(who)] });
    await http.call('whoami', {});
    expect(await http.call('whoami', {})).toEqual(who);
    expect(waitedMs()).toBeGreaterThanOrEqual(2000);
    expect(waitedMs()).toBeLessThan(3000);
  });

  it('gives up soon on a server that never answered, and says where and what to do', async () => {
    const { http, server, waitedMs, notes } = await ask({ answers: [json(who)] });
    await server.close();
    const error = await failureOf(http.call('whoami', {}));
    const { host } = new URL(server.url);
    expect(error.code).toBe('UNREACHABLE');
    expect(error.message).toBe(`${host} cannot be reached: nothing listens there`);
    expect(error.hint).toMatch(/yard server start/);
    expect(waitedMs()).toBeLessThan(2500);
    expect(notes).toEqual([]);
  });

  it('waits for no answer that would come only long after it has given up', async () => {
    const busy = refusal(429, { code: 'TOO_MANY', message: 'the next is looked at in 60 s' }, { 'retry-after': '60' });
    const { http, waitedMs } = await ask({ answers: [busy] });
    expect((await failureOf(http.call('whoami', {}))).message).toBe('the next is looked at in 60 s');
    expect(waitedMs()).toBe(0);
  });

  it.each([
    ['TLS', 'hello\r\n'],
    ['anything', ''],
  ])('says so where what listens does not speak %s', async (_what, text) => {
    const plain = createServer((socket) => socket.resume().end(text));
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as AddressInfo;
    const { http } = await ask({ answers: [json(who)], url: `https://127.0.0.1:${port}` });
    const error = await failureOf(http.call('whoami', {}));
    expect(error).toMatchObject({
      code: 'UNREACHABLE',
      message: expect.stringContaining(`127.0.0.1:${port} cannot be`),
    });
    await new Promise((resolve) => plain.close(resolve));
  });

  it('lets go of a server that is away when it is closed', async () => {
    const { http, server } = await ask({ answers: [json(who)] });
    await http.call('whoami', {});
    await server.close();
    const failed = failureOf(http.call('whoami', {}));
    http.close();
    expect((await failed).code).toBe('UNREACHABLE');
  });

  it('throws what the server refuses, with code, hint and path', async () => {
    const error = { code: 'BAD_VALUE', message: 'run is empty', hint: 'write one', path: 'job.run' };
    const { http } = await ask({ answers: [refusal(400, error)] });
    expect(await failureOf(http.call('whoami', {}))).toMatchObject(error);
  });

  it('keeps the sense of a refusal whose code is newer than this client', async () => {
    const { http } = await ask({ answers: [refusal(403, { code: 'MOON_IS_FULL', message: 'not tonight' })] });
    expect(await failureOf(http.call('whoami', {}))).toMatchObject({ code: 'FORBIDDEN', message: 'not tonight' });
  });

  it('passes over what a newer server adds', async () => {
    const { http } = await ask({
      answers: [json({ ...who, mood: 'fine' }), json({ ...who, projects: { lab: 'owner' } })],
    });
    expect(await http.call('whoami', {})).toEqual(who);
    expect((await http.call('whoami', {})).projects).toEqual({ lab: 'owner' });
  });

  it('says that a server is older where it has no such route', async () => {
    const health = { status: 'ok', version: '0.0.9', incarnation: 'x', oidc: null };
    const unknown = refusal(404, { code: 'UNSUPPORTED', message: 'there is no such route' });
    const { http, server } = await ask({
      answers: [(response, seen) => (seen.url === '/v1/health' ? json(health) : unknown)(response, seen)],
    });
    const error = await failureOf(http.call('listSecrets', {}));
    expect(error.message).toBe(`the server ${new URL(server.url).host} is older (0.0.9) and has no listSecrets`);
  });

  it('tells what is not there from a route that is not there', async () => {
    const { http } = await ask({ answers: [refusal(404, { code: 'NOT_FOUND', message: 'there is no job x' })] });
    const failed = await failureOf(http.call('getJob', { params: { id: 'x' } }));
    expect(failed).toMatchObject({ code: 'NOT_FOUND', message: 'there is no job x' });
  });

  it('takes no other program for a server', async () => {
    const page: Rough = (response) => void response.writeHead(200).end('<html>hello</html>');
    const { http } = await ask({ answers: [page] });
    const error = await failureOf(http.call('whoami', {}));
    expect(error.code).toBe('UNREACHABLE');
    expect(error.message).toMatch(/no Runyard server/);
  });
});

describe('the certificate of a server', () => {
  it('is the pinned one, or nothing is sent at all', async () => {
    const other = `sha256:${'0'.repeat(64)}`;
    const { http, server } = await ask({ answers: [json(who)], fingerprint: other });
    const error = await failureOf(http.call('whoami', {}));
    expect(error.code).toBe('UNTRUSTED');
    expect(error.message).toContain(server.fingerprint);
    expect(server.seen).toEqual([]);
  });

  it('without a pin is one that this machine trusts', async () => {
    const { http, server } = await ask({ answers: [json(who)], fingerprint: null });
    const error = await failureOf(http.call('whoami', {}));
    expect(error.code).toBe('UNTRUSTED');
    expect(error.hint).toMatch(/yard login/);
    expect(server.seen).toEqual([]);
  });
});
