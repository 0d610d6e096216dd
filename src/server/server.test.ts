import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type PeerCertificate } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { open, pick, type Served, serve } from './served.testsuite.ts';

let home: string;
let served: Served | null = null;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'yard-server-'));
});
afterEach(async () => {
  await served?.end();
  served = null;
  rmSync(home, { recursive: true, force: true });
});

async function start(options: Parameters<typeof serve>[0] = {}): Promise<Served> {
  served = await serve({ home, ...options });
  return served;
}

describe('a server', () => {
  it('says that it is well to anybody, takes a job, and shows it', async () => {
    const { ask } = await start();
    const health = await ask('GET', '/v1/health', { token: null });
    expect(health).toMatchObject({ status: 200, json: { status: 'ok', oidc: null } });
    const body = { submission: { job: { name: 'hello', run: 'true' } } };
    const submitted = await ask('POST', '/v1/jobs', { body });
    expect(submitted).toMatchObject({ status: 200, json: { id: expect.stringMatching(/^hello-/) } });
    const id = pick(submitted.json, 'id');
    const shown = await ask('GET', `/v1/jobs/${id}`);
    expect(shown).toMatchObject({ status: 200, json: { id, state: 'PENDING', owner: 'admin' } });
  });

  it('makes a certificate and a token for an administrator at its first start, and keeps both', async () => {
    const first = await start();
    const { fingerprint, adminToken, port } = first.server;
    expect(first.server.isFirstStart).toBe(true);
    const shown = await peerCertificate(port);
    expect(`sha256:${shown.fingerprint256.replaceAll(':', '').toLowerCase()}`).toBe(fingerprint);
    expect(shown.subjectaltname).toContain('DNS:localhost');
    expect(shown.subjectaltname).toContain('IP Address:127.0.0.1');
    const { validTo, publicKey } = new X509Certificate(shown.raw);
    expect(new Date(validTo).getFullYear()).toBeGreaterThan(new Date().getFullYear() + 8);
    expect(publicKey.asymmetricKeyType).toBe('ec');
    for (const name of ['tls.key', 'admin.token', 'tls.crt']) {
      expect(statSync(`${home}/server/${name}`).mode & 0o777).toBe(0o600);
    }
    const file = `${home}/server/admin.token`;
    expect(readFileSync(file, 'utf8')).toBe(`${adminToken}@${fingerprint}\n`);
    await first.end();
    // As it was kept before the fingerprint was, and as it is with another certificate.
    writeFileSync(file, `${adminToken}\n`);
    const { server, ask } = await start();
    expect(server).toMatchObject({ fingerprint, adminToken, isFirstStart: false });
    expect(readFileSync(file, 'utf8')).toBe(`${adminToken}@${fingerprint}\n`);
    expect((await ask('GET', '/v1/whoami')).json).toMatchObject({ name: 'admin', admin: true });
  });

  it('does not start with a home or a key that others can read [R4.26]', async () => {
    await (await start()).end();
    for (const [path, mode] of [
      [home, 0o755],
      [`${home}/server/tls.key`, 0o644],
      [`${home}/server/admin.token`, 0o640],
    ] as const) {
      const { mode: before } = statSync(path);
      chmodSync(path, mode);
      await expect(start()).rejects.toMatchObject({ code: 'PRIVILEGE' });
      chmodSync(path, before);
    }
    expect((await start()).server.port).toBeGreaterThan(0);
  });

  it('takes a certificate that is given, and says what is wrong with one', async () => {
    await (await start()).end();
    const tls = { certPath: `${home}/own.crt`, keyPath: `${home}/own.key` };
    await expect(start({ tls })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    writeFileSync(tls.keyPath, readFileSync(`${home}/server/tls.key`), { mode: 0o600 });
    writeFileSync(tls.certPath, 'nothing');
    await expect(start({ tls })).rejects.toMatchObject({ code: 'BAD_VALUE' });
    writeFileSync(tls.certPath, readFileSync(`${home}/server/tls.crt`));
    expect((await start({ tls })).server.fingerprint).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  it('is the only one on its home and on its port', async () => {
    const { server } = await start();
    await expect(serve({ home })).rejects.toMatchObject({ code: 'WRONG_STATE' });
    const other = mkdtempSync(join(tmpdir(), 'yard-server-'));
    const listen = { host: '127.0.0.1', port: server.port };
    await expect(serve({ home: other, listen })).rejects.toMatchObject({ code: 'PORT_CONFLICT' });
    rmSync(other, { recursive: true });
  });

  it('logs each request in one line, by its route and never by what was in it', async () => {
    const { ask, lines } = await start();
    await ask('POST', '/v1/jobs', { body: { submission: { job: { name: 'canary', run: 'echo canary-in-run' } } } });
    await ask('GET', '/v1/jobs?owner=canary-in-query');
    await ask('GET', '/v1/jobs/canary-in-path');
    const [submit, list, get] = lines.slice(1);
    expect(submit).toMatchObject({ method: 'POST', route: 'submitJob', status: 200, principal: 'user admin' });
    expect(list).toMatchObject({ route: 'listJobs', status: 200, ms: expect.any(Number) });
    expect(get).toMatchObject({ route: 'getJob', status: 404, code: 'NOT_FOUND' });
    expect(JSON.stringify(lines)).not.toContain('canary-in');
  });

  it('counts what it does, for Prometheus', async (test) => {
    const { ask } = await start();
    await ask('POST', '/v1/jobs', { body: { submission: { job: { name: 'hello', run: 'true' } } } });
    const { status, text, headers } = await ask('GET', '/metrics');
    expect([status, headers['content-type']]).toEqual([200, expect.stringContaining('text/plain')]);
    expect(text).toContain('runyard_jobs{state="PENDING"} 1');
    expect(text).toContain('runyard_queue_jobs 1');
    expect(text).toContain('runyard_nodes{state="READY"} 0');
    expect(text).toMatch(/runyard_log_facts [1-9]/);
    expect(text).toMatch(
      /runyard_http_request_duration_seconds_count\{method="POST",route="submitJob",status="200"\} 1/,
    );
    expect(text).toContain('nodejs_eventloop_lag_seconds');
    test.skip(!hasPromtool(), 'promtool is not installed');
    execFileSync('promtool', ['check', 'metrics'], { input: text });
  });

  it('lets a request finish that is under way when it stops', async () => {
    const { server, ask } = await start();
    const submitted = ask('POST', '/v1/jobs', { body: { submission: { job: { name: 'last', run: 'true' } } } });
    await expect.poll(() => server.parts.embedded.plane.state.jobs.size).toBe(1);
    await server.close();
    expect((await submitted).status).toBe(200);
  });

  it('answers a request that arrives while it stops with STOPPING, and when to try again', async () => {
    const { server } = await start();
    const body = JSON.stringify({ submission: { job: { name: 'last', run: 'true' } } });
    const head = ['Host: localhost', `Authorization: Bearer ${server.adminToken}`];
    const submit = ['POST /v1/jobs HTTP/1.1', ...head, 'Content-Type: application/json', 'Expect: 100-continue'];
    const socket = connect({ host: '127.0.0.1', port: server.port, rejectUnauthorized: false });
    let text = '';
    socket.on('data', (part) => {
      text += String(part);
    });
    const ended = once(socket, 'close');
    socket.write([...submit, `Content-Length: ${body.length}`, '', ''].join('\r\n'));
    await expect.poll(() => text).toContain('100 Continue');
    const closed = server.close();
    socket.write([`${body}GET /v1/jobs HTTP/1.1`, ...head, '', ''].join('\r\n'));
    await Promise.all([closed, ended]);
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 200', 'HTTP/1.1 503']);
    const refusal = text.slice(text.indexOf('HTTP/1.1 503'));
    expect(refusal).toMatch(/retry-after: 1\r\n/i);
    expect(refusal).toContain('"code":"STOPPING"');
  });

  it('does not wait for followers that ask again at once over the connection they have', async () => {
    const { server } = await start({ limits: { stopMs: 60_000 } });
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    let answers = 0;
    const follow = async (): Promise<void> => {
      for (;;) {
        const answer = await open(server, { path: '/v1/events?follow=true', agent });
        answers += 1;
        for await (const _event of answer);
      }
    };
    const followers = [follow(), follow(), follow()].map((one) => expect(one).rejects.toThrow());
    await expect.poll(() => answers).toBe(3);
    const begunMs = performance.now();
    await server.close();
    expect(performance.now() - begunMs).toBeLessThan(5000);
    await Promise.all(followers);
    agent.destroy();
  });

  it('does not wait for connections that never asked anything', async () => {
    const { server, ask } = await start({ limits: { stopMs: 60_000 } });
    const at = { host: '127.0.0.1', port: server.port };
    const sockets = [connectPlain(at), connect({ ...at, rejectUnauthorized: false })] as const;
    const ended = sockets.map((socket) =>
      once(
        socket.on('error', () => {}),
        'close',
      ),
    );
    await Promise.all([once(sockets[0], 'connect'), once(sockets[1], 'secureConnect')]);
    // The server has taken both: it takes them in turn.
    await ask('GET', '/v1/health');
    const begunMs = performance.now();
    await server.close();
    expect(performance.now() - begunMs).toBeLessThan(5000);
    await Promise.all(ended);
  });
});

function peerCertificate(port: number): Promise<PeerCertificate> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate());
      socket.destroy();
    });
    socket.on('error', reject);
  });
}

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
