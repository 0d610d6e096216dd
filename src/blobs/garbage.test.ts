import { mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { BlobStore } from './blob-store.ts';
import { openDirectoryStore } from './directory-store.ts';
import { host, temporaryFolder } from './temporary-place.testsuite.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const blob = (content: string): { hash: string; bytes: Uint8Array } => {
  return { hash: host.digests.sha256(text(content)), bytes: text(content) };
};
const graceMs = 60_000;

async function openStore(): Promise<{ directory: string; store: BlobStore }> {
  const directory = join(temporaryFolder(), 'store');
  return { directory, store: await openDirectoryStore({ directory, host }) };
}

function storedFiles(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => /packs|loose|incoming/.test(path) && statSync(path).isFile());
}

function ageAll(directory: string): void {
  const then = Date.now() / 1000 - 3600;
  for (const path of storedFiles(directory)) utimesSync(path, then, then);
}

describe('garbage collection', () => {
  it('removes what nobody keeps, and only when it is older than the grace', async () => {
    const { directory, store } = await openStore();
    const kept = await store.put(text('kept'));
    const dead = await store.put(text('dead'));
    const keep = new Set([kept]);
    expect(await store.collectGarbage({ keep, graceMs })).toEqual({ removed: [], freedBytes: 0 });
    ageAll(directory);
    const young = await store.put(text('young'));
    expect(await store.collectGarbage({ keep, graceMs })).toEqual({ removed: [dead], freedBytes: 4 });
    expect(await store.missing([kept, dead, young])).toEqual([dead]);
  });

  it('counts what a push asked about as new, so that a push under way keeps it', async () => {
    const { directory, store } = await openStore();
    const loose = await store.put(text('old and wanted'));
    const packed = [blob('p1'), blob('p2')];
    await store.putMany(packed);
    ageAll(directory);
    const wanted = [loose, ...packed.map(({ hash }) => hash)];
    expect(await store.missing(wanted)).toEqual([]);
    expect((await store.collectGarbage({ keep: new Set(), graceMs })).removed).toEqual([]);
    expect(await store.missing(wanted)).toEqual([]);
  });

  it('writes a mostly dead pack anew and leaves a mostly live one', async () => {
    const { directory, store } = await openStore();
    const other = await openDirectoryStore({ directory, host });
    const blobs = Array.from({ length: 40 }, (_, i) => blob(`content number ${i} ${'x'.repeat(200)}`));
    await store.putMany(blobs);
    ageAll(directory);
    const most = new Set(blobs.slice(0, 36).map(({ hash }) => hash));
    expect((await store.collectGarbage({ keep: most, graceMs })).removed).toEqual([]);
    const few = new Set(blobs.slice(0, 4).map(({ hash }) => hash));
    const { removed, freedBytes } = await store.collectGarbage({ keep: few, graceMs });
    expect([...removed].sort()).toEqual(
      blobs
        .slice(4)
        .map(({ hash }) => hash)
        .sort(),
    );
    expect(freedBytes).toBeGreaterThan(36 * 200);
    // The other process still has the old index in its memory.
    expect((await other.getMany([...few])).size).toBe(4);
    expect(await other.get(blobs[20]?.hash ?? '')).toBeNull();
  });

  it('puts many small packs together', async () => {
    const { directory, store } = await openStore();
    const all: string[] = [];
    for (let i = 0; i < 9; i++) {
      const pair = [blob(`left ${i}`), blob(`right ${i}`)];
      await store.putMany(pair);
      all.push(...pair.map(({ hash }) => hash));
    }
    ageAll(directory);
    await store.collectGarbage({ keep: new Set(all), graceMs });
    expect(readdirSync(join(directory, 'packs'))).toHaveLength(1);
    expect((await store.getMany(all)).size).toBe(18);
  });

  it('never takes what a push beside it stores or finds stored', async () => {
    const { directory, store } = await openStore();
    const pusher = await openDirectoryStore({ directory, host });
    const rounds = Array.from({ length: 20 }, (_, i) => [blob(`old ${i}`), blob(`also old ${i}`), blob(`new ${i}`)]);
    for (const round of rounds) await store.putMany(round.slice(0, 2));
    await store.put(text('alone'));
    ageAll(directory);
    let isDone = false;
    const removed: string[] = [];
    const collecting = (async () => {
      while (!isDone) removed.push(...(await store.collectGarbage({ keep: new Set(), graceMs })).removed);
    })();
    for (const round of [...rounds, [blob('alone')]]) {
      await pusher.putMany(round);
      const hashes = round.map(({ hash }) => hash);
      expect(await pusher.missing(hashes)).toEqual([]);
      expect((await pusher.getMany(hashes)).size).toBe(hashes.length);
    }
    isDone = true;
    await collecting;
    expect(removed.length).toBeGreaterThan(0);
    for (const round of rounds) expect((await pusher.getMany(round.map(({ hash }) => hash))).size).toBe(3);
  });

  it('brings back what a crash left condemned, and clears what it left half written', async () => {
    const { directory } = await openStore();
    const later = { ...host, clock: { ...host.clock, wallMs: () => host.clock.wallMs() + 2 * 3_600_000 } };
    const store = await openDirectoryStore({ directory, host: later });
    const { hash, bytes } = blob('condemned');
    mkdirSync(join(directory, 'loose', hash.slice(0, 2)), { recursive: true });
    writeFileSync(join(directory, 'loose', hash.slice(0, 2), `${hash.slice(2)}.condemned`), bytes);
    writeFileSync(join(directory, 'incoming', 'half'), 'h');
    writeFileSync(join(directory, 'packs', 'x.pack.00.tmp'), 'h');
    await store.collectGarbage({ keep: new Set([hash]), graceMs });
    expect(await store.get(hash)).toEqual(bytes);
    expect(storedFiles(directory)).toHaveLength(1);
  });
});
