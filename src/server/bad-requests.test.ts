import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { pick, type Served, sendRaw, serve } from './served.testsuite.ts';

let served: Served;
beforeAll(async () => {
  served = await serve({ limits: { headersMs: 300, bodyMs: 300, connectionsPerPeer: 8 } });
});
afterAll(() => served.end());

const job = { name: 'hello', run: 'true' };
const json = { 'content-type': 'application/json' };

/** The head of a request that whoever holds the token may make; the connection ends behind it. */
function head(lines: string, token = served.server.adminToken): string {
  const host = lines.includes('Host:') ? '' : `Host: 127.0.0.1:${served.server.port}\r\n`;
  return `${lines}\r\n${host}Authorization: Bearer ${token}\r\nConnection: close\r\n\r\n`;
}

async function seqNow(): Promise<number> {
  await served.server.parts.embedded.plane.catchUp();
  return served.server.parts.embedded.plane.seq;
}

describe('what a server answers to what it should not be sent', () => {
  it('refuses a body above 1 MiB, or of a submission above 4 MiB, before it is parsed [R4.14]', async () => {
    const before = await seqNow();
    const body = Buffer.from(`{"submission":{"job":{"name":"a","run":"${'x'.repeat(4 * 1024 * 1024)}"}}}`);
    const profile = Buffer.from(`{"document":"${'x'.repeat(1024 * 1024)}"}`);
    const small = await served.ask('PUT', '/v1/profiles', { body: profile, headers: json });
    expect(small).toMatchObject({ status: 413, json: { error: { code: 'TOO_LARGE' } } });
    const told = await served.ask('POST', '/v1/jobs', { body, headers: json });
    expect(told).toMatchObject({ status: 413, json: { error: { code: 'TOO_LARGE' } } });
    const chunked = head('POST /v1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked');
    const pieces = `${'80000\r\n'}${'{'.repeat(0x80000)}\r\n`.repeat(9);
    expect(await sendRaw(served.server, `${chunked}${pieces}0\r\n\r\n`)).toMatch(/^HTTP\/1.1 413 .*"TOO_LARGE"/s);
    expect(await seqNow()).toBe(before);
  });

  it('waits neither for headers nor for a body that do not come [R4.15]', async () => {
    const slowHead = `GET /v1/health HTTP/1.1\r\nHost: 127.0.0.1\r\n`;
    expect(await sendRaw(served.server, slowHead)).toMatch(/^HTTP\/1.1 408 /);
    const slowBody = head('POST /v1/jobs HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 50');
    expect(await sendRaw(served.server, `${slowBody}{"subm`)).toMatch(/^HTTP\/1.1 408 .*"TIMED_OUT"/s);
  });

  it('lets one address hold only so many connections [R4.15]', async () => {
    const idle = Array.from({ length: 12 }, () => sendRaw(served.server, ''));
    const answers = await Promise.allSettled(idle);
    // Those above the limit are cut at once, and the others when no headers have come.
    const cut = answers.filter(({ status }) => status === 'rejected');
    expect(cut.length).toBeGreaterThanOrEqual(4);
    expect((await served.ask('GET', '/v1/health')).status).toBe(200);
  });

  it('unpacks nothing [R4.16]', async () => {
    const headers = { ...json, 'content-encoding': 'gzip' };
    const told = await served.ask('POST', '/v1/jobs', { body: Buffer.alloc(10), headers });
    expect(told).toMatchObject({ status: 415, json: { error: { code: 'UNSUPPORTED_ENCODING' } } });
    const identity = await served.ask('POST', '/v1/jobs/preview', {
      body: {},
      headers: { 'content-encoding': 'identity' },
    });
    expect(pick(identity.json, 'error.code')).toBe('MISSING_KEY');
  });

  it('refuses JSON that nests too deeply [R4.18]', async () => {
    const body = Buffer.from('['.repeat(100_000));
    const told = await served.ask('POST', '/v1/jobs', { body, headers: json });
    expect(told).toMatchObject({ status: 400, json: { error: { code: 'TOO_DEEP' } } });
  });

  it('refuses keys that reach into prototypes, wherever they stand [R4.19]', async () => {
    for (const body of [
      '{"__proto__":{"admin":true}}',
      '{"submission":{"job":{"name":"a","run":"true","env":{"__proto__":"x"}}}}',
      '{"submission":{"job":{"name":"a","run":"true"},"constructor":1}}',
    ]) {
      const told = await served.ask('POST', '/v1/jobs', { body: Buffer.from(body), headers: json });
      expect(told).toMatchObject({ status: 400, json: { error: { code: 'UNKNOWN_KEY' } } });
    }
    const query = await served.ask('GET', '/v1/jobs?__proto__=1');
    expect(query).toMatchObject({ status: 400, json: { error: { code: 'UNKNOWN_KEY' } } });
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });

  it('takes no number of replicas that is none, in a document or read before [R4.9] [R4.10]', async () => {
    const spec = { name: 'web', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [] };
    for (const replicas of [1e9, -1, 1.5, '3', null, 2 ** 53]) {
      const document = { service: { service: { name: 'web', run: 'true' }, profile: { replicas } } };
      const layers = [{ origin: 'file', values: { kind: 'service', replicas } }];
      const prepared = { service: { spec, source: {}, profile: null, layers } };
      for (const body of [document, ...(replicas === null ? [] : [prepared])]) {
        const told = await served.ask('POST', '/v1/services', { body });
        expect(told, JSON.stringify(body)).toMatchObject({ status: 400 });
      }
      const scaled = await served.ask('POST', '/v1/services/web/scale', { body: { replicas } });
      expect([400, 404]).toContain(scaled.status);
    }
    const nan = Buffer.from('{"replicas":NaN}');
    const told = await served.ask('POST', '/v1/services/web/scale', { body: nan, headers: json });
    expect(told).toMatchObject({ status: 400, json: { error: { code: 'BAD_REQUEST' } } });
    expect(served.server.parts.embedded.plane.state.services.size).toBe(0);
  });

  it('names the place of what is wrong with a document', async () => {
    const told = await served.ask('POST', '/v1/jobs', { body: { submission: { job: { ...job, nam: 1 } } } });
    expect(told).toMatchObject({ status: 400, json: { error: { code: 'UNKNOWN_KEY', path: 'job.nam' } } });
    const query = await served.ask('GET', '/v1/jobs?limit=-1');
    expect(query).toMatchObject({ status: 400, json: { error: { path: 'query.limit' } } });
    const twice = await served.ask('GET', '/v1/jobs?limit=1&limit=2');
    expect(twice).toMatchObject({ status: 400, json: { error: { code: 'BAD_VALUE' } } });
    const words = async (path: string, body?: unknown): Promise<string> => {
      const { status, json } = await served.ask(body === undefined ? 'GET' : 'POST', path, { body });
      expect(status).toBe(400);
      return (json as { error: { message: string } }).error.message;
    };
    expect(await words('/v1/jobs?limit=0')).toBe('query.limit is "0"; expected a whole number above 0');
    expect(await words('/v1/jobs?state=DONE')).toContain('expected "PENDING" or "RUNNING" or "COMPLETED" or "FAILED"');
    expect(await words('/v1/usage?from=2026-02-30')).toBe(
      'query.from is "2026-02-30"; expected a date such as 2026-11-29',
    );
    expect(await words('/v1/usage?by=week')).toBe('query.by is "week"; expected "project" or "user" or "day"');
    expect(await words('/v1/usage?from=9999-01-01')).toMatch(/^from is 9999-01-01, which is after \S+, the last day$/);
    expect(await words('/v1/jobs', [])).toBe('body is []; expected an object');
    expect(await words('/v1/jobs/x/stop', { graceMs: -1 })).toBe('body.graceMs is -1; expected at least 0');
    expect(await words('/v1/jobs/x/stop', { graceMs: 'a' })).toBe('body.graceMs is "a"; expected a number');
    expect(await words('/v1/nodes/x/drain', { reason: 'r'.repeat(501) })).toContain('expected at most 500 characters');
    // What may be left out may be left out as a whole.
    expect(await served.ask('POST', '/v1/jobs/x/stop')).toMatchObject({ status: 404 });
    const absent = await served.ask('POST', '/v1/jobs');
    expect(absent).toMatchObject({ status: 400, json: { error: { code: 'MISSING_KEY', path: 'body.submission' } } });
    const text = await served.ask('POST', '/v1/jobs', { body: Buffer.from('{'), headers: json });
    expect(text).toMatchObject({ status: 400, json: { error: { code: 'BAD_REQUEST' } } });
    const form = await served.ask('POST', '/v1/jobs', {
      body: Buffer.from('a=b'),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(form).toMatchObject({ status: 415, json: { error: { code: 'UNSUPPORTED_ENCODING' } } });
  });

  it('refuses a token in an address, and logs neither [R4.24]', async () => {
    const { adminToken } = served.server;
    for (const path of [`/v1/jobs?token=${adminToken}`, `/v1/jobs/${adminToken}`, `/${adminToken}`]) {
      const told = await served.ask('GET', path);
      expect(told).toMatchObject({ status: 400, json: { error: { code: 'BAD_REQUEST' } } });
    }
    await served.ask('GET', '/v1/jobs');
    const log = JSON.stringify(served.lines);
    expect(log).not.toContain(adminToken);
    expect(log).not.toContain(adminToken.split('_').at(-1));
  });

  it('takes no request whose length is said twice, or in two ways, and no header with a line break [R4.33]', async () => {
    const { server } = served;
    const post = 'POST /v1/jobs/preview HTTP/1.1\r\nContent-Type: application/json';
    const twice = await sendRaw(server, `${head(`${post}\r\nContent-Length: 2\r\nContent-Length: 3`)}{}`);
    expect(twice).toMatch(/^HTTP\/1.1 400 .*Connection: close/s);
    const both = head(`${post}\r\nContent-Length: 4\r\nTransfer-Encoding: chunked`);
    expect(await sendRaw(server, `${both}0\r\n\r\n`)).toMatch(/^HTTP\/1.1 400 /);
    const broken = head('GET /v1/health HTTP/1.1\r\nX-Name: a\rX-Other: b');
    expect(await sendRaw(server, broken)).toMatch(/^HTTP\/1.1 400 /);
    const nul = head('GET /v1/health HTTP/1.1\r\nX-Name: a\0b');
    expect(await sendRaw(server, nul)).toMatch(/^HTTP\/1.1 400 /);
  });

  it('believes nothing that a client says about where it comes from [R4.34]', async () => {
    const headers = { 'x-forwarded-for': '10.1.2.3', 'x-forwarded-host': 'evil.example', forwarded: 'for=10.1.2.3' };
    expect((await served.ask('GET', '/v1/health', { headers })).status).toBe(200);
    expect(JSON.stringify(served.lines)).not.toContain('10.1.2.3');
  });

  it('is nobody else: unknown hosts and absolute addresses are refused [R4.35]', async () => {
    const { server } = served;
    const other = head('GET /v1/health HTTP/1.1\r\nHost: evil.example');
    expect(await sendRaw(server, other)).toMatch(/^HTTP\/1.1 421 .*"MISDIRECTED"/s);
    const absolute = head(`GET https://127.0.0.1:${server.port}/v1/health HTTP/1.1`);
    expect(await sendRaw(server, absolute)).toMatch(/^HTTP\/1.1 421 /);
    const bare = 'GET /v1/health HTTP/1.1\r\nConnection: close\r\n\r\n';
    expect(await sendRaw(server, bare)).toMatch(/^HTTP\/1.1 400 /);
    const local = head(`GET /v1/health HTTP/1.1\r\nHost: localhost:${server.port}`);
    expect(await sendRaw(server, local)).toMatch(/^HTTP\/1.1 200 /);
  });

  it('becomes a WebSocket on declared routes only [R4.36]', async () => {
    const upgrade = 'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
    const ask = (path: string, lines = upgrade): Promise<string> =>
      sendRaw(served.server, head(`GET ${path} HTTP/1.1\r\n${lines}`).replace('close', 'Upgrade'));
    expect(await ask('/v1/jobs')).toMatch(/^HTTP\/1.1 404 /);
    expect(await ask('/v1/agent')).toMatch(/^HTTP\/1.1 401 /);
    expect(await ask('/v1/jobs/none/exec')).toMatch(/^HTTP\/1.1 404 /);
    expect(await ask('/v1/jobs', 'Upgrade: h2c')).toMatch(/^HTTP\/1.1 404 /);
  });

  it('lets no page of another origin ask [R4.37]', async () => {
    const told = await served.ask('GET', '/v1/jobs', { headers: { origin: 'https://evil.example' } });
    expect(told).toMatchObject({ status: 403, json: { error: { code: 'FORBIDDEN' } } });
    const own = await served.ask('GET', '/v1/jobs', { headers: { origin: served.server.url } });
    expect(own.status).toBe(200);
  });

  it('takes SQL and shell text for what it is: text [R4.39]', async () => {
    for (const text of ["'; DROP TABLE archive; --", '$(touch /tmp/owned)', '`id`', '../../etc/passwd', 'a%00b']) {
      const told = await served.ask('GET', `/v1/jobs/${encodeURIComponent(text)}`);
      expect([400, 404]).toContain(told.status);
      const listed = await served.ask('GET', `/v1/jobs?owner=${encodeURIComponent(text)}&all=true`);
      expect(listed).toMatchObject({ status: 200, json: { items: [] } });
      const named = await served.ask('POST', '/v1/jobs', { body: { submission: { job: { ...job, name: text } } } });
      expect(named).toMatchObject({ status: 400, json: { error: { code: expect.stringMatching(/^BAD_/) } } });
    }
  });

  it('tells nothing of a fault but where its log has the cause', async () => {
    const broken = vi.spyOn(served.server.parts.store, 'missing').mockRejectedValue(new Error('a secret cause'));
    const told = await served.ask('POST', '/v1/blobs/missing', { body: { hashes: [] } });
    broken.mockRestore();
    expect(told.status).toBe(500);
    expect(told.text).not.toContain('secret cause');
    const id = /under ([0-9a-f]{16})/.exec(pick(told.json, 'error.message'))?.[1];
    expect(served.lines.find(({ fault }) => fault === id)).toMatchObject({ err: { message: 'a secret cause' } });
  });

  it('says which paths and methods there are to whoever has a token, and nothing to others', async () => {
    expect(await served.ask('GET', '/v1/nothing')).toMatchObject({
      status: 404,
      json: { error: { code: 'NOT_FOUND' } },
    });
    expect(await served.ask('DELETE', '/v1/jobs')).toMatchObject({ status: 405 });
    expect(await served.ask('GET', '/v1/nothing', { token: null })).toMatchObject({ status: 401 });
  });
});
