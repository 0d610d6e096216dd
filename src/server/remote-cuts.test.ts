import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobHandle, RunningNode } from '../client/api.ts';
import { createHttp } from '../client/remote/http.ts';
import { createRemoteHost } from '../client/remote/remote.ts';
import { createRemoteBlobs } from '../client/remote/remote-blobs.ts';
import { Runyard } from '../client/runyard.ts';
import { type CuttingProxy, startCuttingProxy } from './cutting-proxy.testsuite.ts';
import { Server } from './server.ts';

/** Everything goes through a connection that is cut again and again, and through restarts of the server. */

let place: string;
let server: Server;
let proxy: CuttingProxy;
let own: Runyard;
let node: RunningNode | null;
const home = (): string => join(place, 'server');
const start = (): Promise<Server> => Server.start({ home: home(), listen: { host: '127.0.0.1', port: 0 } });

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'yard-cuts-'));
  server = await start();
  proxy = await startCuttingProxy(server.port);
  own = await Runyard.open({ home: home() });
  node = await own.nodes.start({ name: 'here', cpus: 4 });
});
afterAll(async () => {
  await node?.close();
  await own.close();
  await server.close();
  await proxy.close();
  rmSync(place, { recursive: true, force: true });
});

const connect = () =>
  Runyard.connect({
    server: `https://127.0.0.1:${proxy.port}`,
    token: server.adminToken,
    fingerprint: server.fingerprint,
    home: join(place, 'mine'),
  });

function blobs() {
  const host = createRemoteHost();
  const address = { url: `https://127.0.0.1:${proxy.port}`, fingerprint: server.fingerprint, token: server.adminToken };
  const http = createHttp(address, host);
  return { store: createRemoteBlobs(http, { host, temporary: join(place, 'incoming') }), close: () => http.close() };
}

async function linesOf(job: JobHandle, seen: (line: string) => void): Promise<string[]> {
  let text = '';
  for await (const piece of job.logs({ follow: true })) {
    text += piece;
    seen(piece);
  }
  return text.trimEnd().split('\n');
}

describe('content through a connection that is cut', () => {
  it('arrives whole in both directions; a download goes on where it was', async () => {
    const { store, close } = blobs();
    const path = join(place, 'large');
    const bytes = randomBytes(8 * 1024 * 1024);
    writeFileSync(path, bytes);
    proxy.cutAfter(3 * 1024 * 1024);
    let sentBytes = 0;
    const onSent = (moved: number): void => {
      sentBytes += moved;
    };
    const { hash, isNew } = await store.putFile(path, { onSent });
    expect(sentBytes).toBe(bytes.length);
    expect({ hash, isNew }).toEqual({ hash: createHash('sha256').update(bytes).digest('hex'), isNew: true });
    expect(await store.putFile(path)).toMatchObject({ isNew: false });
    proxy.cutAfter(3 * 1024 * 1024);
    expect(await store.extract(hash, join(place, 'back'), { mode: 0o640 })).toBe(true);
    expect(readFileSync(join(place, 'back')).equals(bytes)).toBe(true);
    expect(proxy.cuts).toBe(2);
    expect(await store.extract('0'.repeat(64), join(place, 'absent'), { mode: 0o600 })).toBe(false);
    close();
  });

  it('arrives whole where there is much of it that is small', async () => {
    const { store, close } = blobs();
    const all = Array.from({ length: 3000 }, (_, i) => new TextEncoder().encode(`blob ${i} ${'x'.repeat(i % 900)}`));
    const named = all.map((bytes) => ({ hash: createHash('sha256').update(bytes).digest('hex'), bytes }));
    proxy.cutAfter(600_000);
    await store.putMany(named);
    const hashes = named.map(({ hash }) => hash);
    expect(await store.missing([...hashes, 'f'.repeat(64)])).toEqual(['f'.repeat(64)]);
    proxy.cutAfter(200_000);
    const back = await store.getMany([...hashes, 'f'.repeat(64)]);
    expect(back.size).toBe(3000);
    expect(named.every(({ hash, bytes }) => Buffer.from(back.get(hash) ?? []).equals(Buffer.from(bytes)))).toBe(true);
    close();
  });
});

describe('a job that is followed', () => {
  it('loses and repeats no line through cuts and a restart of the server [G9]', async () => {
    const yard = await connect();
    const folder = join(place, 'gates');
    mkdirSync(folder);
    const run = `i=0; while [ $i -lt 400 ]; do i=$((i+1)); echo line $i; [ $((i % 100)) -ne 0 ] || while [ ! -e ${folder}/$i ]; do sleep 0.02; done; done`;
    const job = await yard.jobs.submit({ job: { name: 'talk', run } });
    const open = (gate: number): void => writeFileSync(join(folder, String(gate)), '');
    let restarted: Promise<void> = Promise.resolve();
    const ended = job.wait();
    const lines = await linesOf(job, (piece) => {
      if (piece.includes('line 100\n')) {
        proxy.cut();
        open(100);
      }
      if (piece.includes('line 200\n')) {
        restarted = restart().then(() => open(200));
      }
      if (piece.includes('line 300\n')) {
        open(300);
        open(400);
      }
    });
    expect(lines).toEqual(Array.from({ length: 400 }, (_, i) => `line ${i + 1}`));
    expect((await ended).state).toBe('COMPLETED');
    await restarted;
    await yard.close();
  });
});

/** Another server over the same home, as an update would start it. */
async function restart(): Promise<void> {
  const closing = server.close();
  proxy.cut();
  await closing;
  server = await start();
  proxy.target(server.port);
}
