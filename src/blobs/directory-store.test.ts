import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BlobFault } from './blob-fault.ts';
import type { BlobStore } from './blob-store.ts';
import { openDirectoryStore } from './directory-store.ts';
import { draw, host, temporaryFolder } from './temporary-place.testsuite.ts';

const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const named = (bytes: Uint8Array): { hash: string; bytes: Uint8Array } => ({ hash: host.digests.sha256(bytes), bytes });
const noise = (length: number): Uint8Array => host.chance.bytes(length);

async function openTwice(): Promise<{ directory: string; one: BlobStore; other: BlobStore }> {
  const directory = join(temporaryFolder(), 'store');
  const one = await openDirectoryStore({ directory, host });
  return { directory, one, other: await openDirectoryStore({ directory, host }) };
}

function packsIn(directory: string): readonly string[] {
  return readdirSync(join(directory, 'packs')).map((name) => join(directory, 'packs', name));
}

function looseIn(directory: string): readonly string[] {
  return readdirSync(join(directory, 'loose'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, 'loose', name))
    .filter((path) => statSync(path).isFile());
}

/** Flips a bit of stored bytes behind the store's back. */
function damage(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  chmodSync(path, 0o600);
  writeFileSync(path, bytes);
}

describe('the directory store', () => {
  it('is closed to other users and refuses a format it does not know', async () => {
    const { directory } = await openTwice();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    writeFileSync(join(directory, 'format'), 'runyard blobs 2\n');
    await expect(openDirectoryStore({ directory, host })).rejects.toMatchObject({ code: 'BAD_STORE' });
  });

  it('gives back what was put, to another process too, small and large, one and many', async () => {
    const { one, other } = await openTwice();
    const small = Array.from({ length: 300 }, (_, i) => named(text(`small ${i}`)));
    const blobs = [...small, named(noise(64 * 1024)), named(noise(64 * 1024 + 1)), named(new Uint8Array())];
    await one.putMany(blobs);
    const hashes = blobs.map(({ hash }) => hash);
    expect(await other.missing([...hashes, 'f'.repeat(64)])).toEqual(['f'.repeat(64)]);
    const found = await other.getMany(hashes);
    expect(found.size).toBe(blobs.length);
    for (const { hash, bytes } of blobs) {
      expect(Buffer.compare(found.get(hash) ?? noise(1), bytes)).toBe(0);
      expect(Buffer.compare((await other.get(hash)) ?? noise(1), bytes)).toBe(0);
    }
    expect(await other.get('f'.repeat(64))).toBeNull();
  });

  it('puts many small blobs into one pack and stores nothing twice', async () => {
    const { directory, one, other } = await openTwice();
    const blobs = Array.from({ length: 100 }, (_, i) => named(text(`blob ${i}`)));
    await one.putMany([...blobs, ...blobs]);
    await other.putMany(blobs);
    await one.put(text('blob 7'));
    expect(packsIn(directory)).toHaveLength(1);
    expect(looseIn(directory)).toHaveLength(0);
  });

  it('refuses bytes that do not have the hash they came with', async () => {
    const { directory, one } = await openTwice();
    const wrong = 'a'.repeat(64);
    await expect(one.put(text('x'), wrong)).rejects.toMatchObject({ code: 'HASH_MISMATCH', hash: wrong });
    await expect(one.putMany([named(text('y')), { hash: wrong, bytes: text('x') }])).rejects.toBeInstanceOf(BlobFault);
    await expect(one.missing(['../../etc/passwd'])).rejects.toBeInstanceOf(BlobFault);
    expect([...packsIn(directory), ...looseIn(directory)]).toEqual([]);
  });

  it('stores a file without following a link, and writes it out with its mode', async () => {
    const { directory, one } = await openTwice();
    const place = temporaryFolder();
    const content = noise(200_000);
    draw(place, { real: content, link: { link: 'real' } });
    const stored = await one.putFile(join(place, 'real'));
    expect(stored).toMatchObject({ sizeBytes: 200_000, isNew: true, hash: host.digests.sha256(content) });
    expect((await one.putFile(join(place, 'real'))).isNew).toBe(false);
    await expect(one.putFile(join(place, 'link'))).rejects.toMatchObject({ code: 'ELOOP' });
    expect(await one.extract(stored.hash, join(place, 'out'), { mode: 0o755 })).toBe(true);
    expect(Buffer.compare(readFileSync(join(place, 'out')), content)).toBe(0);
    expect(statSync(join(place, 'out')).mode & 0o777).toBe(0o755);
    expect(await one.extract('f'.repeat(64), join(place, 'none'), { mode: 0o644 })).toBe(false);
    expect(existsSync(join(place, 'none'))).toBe(false);
    expect(readdirSync(join(directory, 'incoming'))).toEqual([]);
  });

  it('finds a damaged loose blob, says so, and takes it anew', async () => {
    const { directory, one, other } = await openTwice();
    const hash = await one.put(text('precious'));
    damage(looseIn(directory)[0] ?? '', 3);
    await expect(other.get(hash)).rejects.toMatchObject({ code: 'CORRUPT_BLOB', hash });
    expect(await one.missing([hash])).toEqual([hash]);
    await one.put(text('precious'));
    expect(await other.get(hash)).toEqual(text('precious'));
  });

  it('finds a damaged packed blob, keeps its neighbours, and takes it anew', async () => {
    const { directory, one, other } = await openTwice();
    const blobs = Array.from({ length: 20 }, (_, i) => named(text(`neighbour ${i}`)));
    await one.putMany(blobs);
    const [pack = ''] = packsIn(directory);
    damage(pack, readFileSync(pack).indexOf('neighbour 4') + 2);
    const hit = blobs[4]?.hash ?? '';
    await expect(other.getMany(blobs.map(({ hash }) => hash))).rejects.toMatchObject({
      code: 'CORRUPT_BLOB',
      hash: hit,
    });
    expect(await one.missing(blobs.map(({ hash }) => hash))).toEqual([hit]);
    await one.putMany(blobs);
    expect((await other.getMany(blobs.map(({ hash }) => hash))).size).toBe(20);
  });

  it('builds the index of a pack again when it is damaged', async () => {
    const { directory, one } = await openTwice();
    const blobs = Array.from({ length: 20 }, (_, i) => named(text(`record ${i}`)));
    await one.putMany(blobs);
    const [pack = ''] = packsIn(directory);
    for (const fromEnd of [100, 20, 3]) {
      damage(pack, readFileSync(pack).length - fromEnd);
      const fresh = await openDirectoryStore({ directory, host });
      expect((await fresh.getMany(blobs.map(({ hash }) => hash))).size).toBe(20);
    }
  });
});
