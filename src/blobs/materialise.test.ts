import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Manifest, ManifestEntry } from './manifest.ts';
import { checkManifest, decodeManifest, encodeManifest } from './manifest-codec.ts';
import { materialiseTree } from './materialise.ts';
import { host, openPlace } from './temporary-place.testsuite.ts';

const hash = '0'.repeat(64);
const file = (path: string): ManifestEntry => ({ kind: 'file', path, mode: 0o644, sizeBytes: 1, hash });
const folder = (path: string): ManifestEntry => ({ kind: 'directory', path, mode: 0o755 });
const link = (path: string, target: string): ManifestEntry => ({ kind: 'link', path, target });

describe('materialising a tree', () => {
  it('writes files, modes, folders and links, and records what it wrote [S4]', async () => {
    const place = await openPlace({
      'bin/run': { mode: 0o755, text: 'x' },
      'read-only/file': { mode: 0o444, text: 'y' },
      large: host.chance.bytes(100_000),
      none: null,
      link: { link: 'bin/run' },
    });
    const { manifest } = await place.push();
    const directory = join(place.base, 'deep/copy');
    const { files, directories } = await materialiseTree({ manifest, store: place.store, directory, host });
    expect(files.map(({ path }) => path).sort()).toEqual(['bin/run', 'large', 'read-only/file']);
    expect(directories).toEqual(['bin', 'none', 'read-only']);
    for (const written of files) {
      const stat = lstatSync(join(directory, written.path));
      const { sizeBytes, mtimeMs, ctimeMs, inode } = written;
      expect({ sizeBytes, mtimeMs, ctimeMs, inode }).toEqual({
        sizeBytes: stat.size,
        mtimeMs: stat.mtimeMs,
        ctimeMs: stat.ctimeMs,
        inode: stat.ino,
      });
    }
    expect(statSync(join(directory, 'bin/run')).mode & 0o777).toBe(0o755);
    expect(statSync(join(directory, 'read-only/file')).mode & 0o777).toBe(0o444);
    expect(readlinkSync(join(directory, 'link'))).toBe('bin/run');
  });

  it('says which file lacks its content', async () => {
    const place = await openPlace({});
    const manifest: Manifest = { version: 1, entries: [file('weights')] };
    const directory = join(place.base, 'copy');
    const writing = materialiseTree({ manifest, store: place.store, directory, host });
    await expect(writing).rejects.toMatchObject({ code: 'MISSING_BLOB', hash });
  });

  const escapes: readonly [string, readonly ManifestEntry[]][] = [
    ['a parent path', [file('../x')]],
    ['a path with .. inside', [folder('a'), file('a/../../x')]],
    ['an absolute path', [file('/etc/x')]],
    ['an empty path', [file('')]],
    ['an empty part', [folder('a'), file('a//x')]],
    ['a NUL byte', [file('a\0b')]],
    ['a name twice', [file('a'), file('a')]],
    ['a name twice, as two kinds', [file('a'), link('a', 'b')]],
    ['entries out of order', [file('b'), file('a')]],
    ['a file below a link', [link('a', '.'), file('a/x')]],
    ['a file below a file', [file('a'), file('a/x')]],
    ['a file in no folder', [file('a/x')]],
    ['a link to the outside', [link('a', '../x')]],
    ['an absolute link', [link('a', '/etc')]],
    ['links that leave together', [folder('a'), link('a/up', '..'), link('b', 'a/up/..')]],
  ];
  it.each(escapes)('refuses %s before it writes anything [R4.17]', async (_, entries) => {
    const place = await openPlace({});
    const directory = join(place.base, 'copy');
    const manifest: Manifest = { version: 1, entries };
    await expect(materialiseTree({ manifest, store: place.store, directory, host })).rejects.toMatchObject({
      code: 'BAD_MANIFEST',
    });
    expect(existsSync(directory)).toBe(false);
  });
});

describe('a manifest as bytes', () => {
  it('is the same whatever order the keys were in, and reads back', () => {
    const entries = [folder('a'), file('a/b'), link('l', 'a/b')];
    const shuffled = entries.map(
      (entry) => Object.fromEntries(Object.entries(entry).reverse()) as unknown as ManifestEntry,
    );
    const bytes = encodeManifest({ version: 1, entries });
    expect(encodeManifest({ version: 1, entries: shuffled })).toEqual(bytes);
    expect(decodeManifest(bytes)).toEqual({ version: 1, entries });
  });

  it.each([
    ['no JSON', '{'],
    ['another version', '{"version":2,"entries":[]}'],
    ['no entries', '{"version":1}'],
    ['a device', '{"version":1,"entries":[{"kind":"device","path":"a","mode":420}]}'],
    ['a setuid mode', `{"version":1,"entries":[{"kind":"directory","path":"a","mode":2541}]}`],
    [
      'a hash that is none',
      '{"version":1,"entries":[{"kind":"file","path":"a","mode":420,"sizeBytes":1,"hash":"../x"}]}',
    ],
    [
      'a size that is none',
      `{"version":1,"entries":[{"kind":"file","path":"a","mode":420,"sizeBytes":-1,"hash":"${hash}"}]}`,
    ],
  ])('refuses %s [R4.17]', (_, text) => {
    expect(() => decodeManifest(new TextEncoder().encode(text))).toThrow(/manifest/);
  });

  it('sorts by bytes, where a dot stands before a slash', () => {
    expect(() => checkManifest({ version: 1, entries: [folder('a'), file('a.txt'), file('a/b')] })).not.toThrow();
  });
});
