import { createHash, randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromHex } from '../blobs/hex.ts';
import { encodeManifest } from '../blobs/manifest-codec.ts';
import { encodePack, listIndex, rebuildIndex } from '../blobs/pack-format.ts';
import { open, type Served, serve } from './served.testsuite.ts';

let served: Served;
beforeAll(async () => {
  served = await serve({ limits: { bodyMs: 300 } });
});
afterAll(() => served.end());

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const octets = { 'content-type': 'application/octet-stream' };

async function missing(hashes: readonly string[]): Promise<unknown> {
  return (await served.ask('POST', '/v1/blobs/missing', { body: { hashes } })).json;
}

async function get(path: string, headers: Record<string, string> = {}): Promise<{ status: number; bytes: Buffer }> {
  const answer = await open(served.server, { path }, { headers });
  const parts: Buffer[] = [];
  for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
  return { status: answer.statusCode ?? 0, bytes: Buffer.concat(parts) };
}

describe('the bytes of a server', () => {
  it('come in and go out, whole or from an offset on', async () => {
    const bytes = randomBytes(3_000_000);
    const hash = hashOf(bytes);
    expect(await missing([hash])).toEqual({ missing: [hash] });
    expect((await served.ask('PUT', `/v1/blobs/${hash}`, { body: bytes, headers: octets })).status).toBe(204);
    expect(await missing([hash])).toEqual({ missing: [] });
    const whole = await get(`/v1/blobs/${hash}`);
    expect([whole.status, hashOf(whole.bytes)]).toEqual([200, hash]);
    const rest = await get(`/v1/blobs/${hash}`, { range: 'bytes=2999990-' });
    expect(rest).toEqual({ status: 206, bytes: bytes.subarray(2_999_990) });
    expect((await get(`/v1/blobs/${hash}`, { range: 'bytes=3000001-' })).status).toBe(400);
    expect((await get(`/v1/blobs/${'0'.repeat(64)}`)).status).toBe(404);
  });

  it('are what their name says, or are not kept', async () => {
    const hash = hashOf(Buffer.from('right'));
    const told = await served.ask('PUT', `/v1/blobs/${hash}`, { body: Buffer.from('wrong'), headers: octets });
    expect(told).toMatchObject({ status: 400, json: { error: { code: 'BAD_VALUE', path: 'hash' } } });
    expect((await served.ask('PUT', '/v1/blobs/..', { body: Buffer.from('x'), headers: octets })).status).not.toBe(204);
    expect(await missing([hash])).toEqual({ missing: [hash] });
    expect(readdirSync(`${served.home}/blobs/incoming`)).toEqual([]);
  });

  it('leave nothing when they break off or stop moving', async () => {
    const hash = hashOf(randomBytes(8));
    const begin = (): ClientRequest => {
      const { port, adminToken } = served.server;
      const headers = { authorization: `Bearer ${adminToken}`, 'content-length': 1_000_000, ...octets };
      const path = `/v1/blobs/${hash}`;
      return request({ host: '127.0.0.1', port, method: 'PUT', path, headers, rejectUnauthorized: false });
    };
    const stalled = begin();
    const answer = new Promise<number>((resolve, reject) => {
      stalled.on('response', ({ statusCode }) => resolve(statusCode ?? 0));
      stalled.on('error', reject);
    });
    stalled.write('some');
    expect(await answer).toBe(408);
    stalled.destroy();
    const cut = begin();
    cut.on('error', () => {});
    cut.write('some');
    await expect.poll(() => readdirSync(`${served.home}/blobs/incoming`).length).toBe(1);
    cut.destroy();
    await expect.poll(() => readdirSync(`${served.home}/blobs/incoming`)).toEqual([]);
  });

  it('travel together when they are small', async () => {
    const blobs = Array.from({ length: 50 }, (_, n) => Buffer.from(`blob ${n}`));
    const digest = (bytes: Uint8Array): Uint8Array => fromHex(hashOf(bytes));
    const body = encodePack(
      blobs.map((bytes) => ({ key: digest(bytes), bytes })),
      digest,
    );
    expect((await served.ask('POST', '/v1/blobs/pack', { body, headers: octets })).status).toBe(204);
    const hashes = blobs.map(hashOf);
    const answer = await open(served.server, { method: 'POST', path: '/v1/blobs/fetch' }, { body: { hashes } });
    const parts: Buffer[] = [];
    for await (const part of answer as AsyncIterable<Buffer>) parts.push(part);
    const found = listIndex(rebuildIndex(Buffer.concat(parts)));
    expect(found.map(({ hash }) => hash).sort()).toEqual([...hashes].sort());
    const forged = Buffer.from(body);
    forged.write('x', 60);
    expect((await served.ask('POST', '/v1/blobs/pack', { body: forged, headers: octets })).status).toBe(400);
    const none = await served.ask('POST', '/v1/blobs/pack', { body: Buffer.from('no pack'), headers: octets });
    expect(none).toMatchObject({ status: 400, json: { error: { code: 'BAD_REQUEST' } } });
  });

  it('are all there before a job that needs them is taken, and none is read from the disk of the server', async () => {
    const file = Buffer.from('print(1)\n');
    const entry = { kind: 'file', path: 'main.py', mode: 0o644, sizeBytes: file.length, hash: hashOf(file) } as const;
    const manifest = encodeManifest({ version: 1, entries: [entry] });
    const workspace = { manifest: hashOf(manifest), files: 99, sizeBytes: 99 };
    const job = { name: 'needs', run: 'true', workspace: { workdir: '/etc' } };
    const submit = (more: object): ReturnType<Served['ask']> =>
      served.ask('POST', '/v1/jobs', { body: { submission: { job }, ...more } });
    expect(await submit({})).toMatchObject({ status: 400, json: { error: { code: 'NO_WORKSPACE' } } });
    expect(await submit({ workspace })).toMatchObject({ status: 409, json: { error: { code: 'MISSING_BLOBS' } } });
    await served.ask('PUT', `/v1/blobs/${workspace.manifest}`, { body: manifest, headers: octets });
    expect(await submit({ workspace })).toMatchObject({ status: 409, json: { error: { code: 'MISSING_BLOBS' } } });
    await served.ask('PUT', `/v1/blobs/${entry.hash}`, { body: file, headers: octets });
    expect(await submit({ workspace })).toMatchObject({ status: 200 });
  });
});
