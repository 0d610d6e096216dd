import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HostError } from '../host/files.ts';
import type { Manifest } from './manifest.ts';
import { decodeManifest } from './manifest-codec.ts';
import { materialiseTree } from './materialise.ts';
import { age, draw, filesOf, host, openPlace, pathsOf } from './temporary-place.testsuite.ts';

const linksOf = (manifest: Manifest): Record<string, string> =>
  Object.fromEntries(manifest.entries.flatMap((entry) => (entry.kind === 'link' ? [[entry.path, entry.target]] : [])));

describe('pushing a tree', () => {
  it('keeps odd names, empty files and folders, modes and binary content whole [S4] [C24]', async () => {
    const binary = host.chance.bytes(64 * 1024);
    const place = await openPlace({
      'with space': 'a',
      'new\nline': 'b',
      'größe/日本.txt': 'c',
      '-rf': 'd',
      '*': 'e',
      ['__proto__']: 'f',
      empty: '',
      'empty folder': null,
      'run.sh': { mode: 0o755, text: '#!/bin/sh\n' },
      secret: { mode: 0o600, text: 's' },
      'binary.bin': binary,
    });
    const pushed = await place.push();
    expect(pushed).toMatchObject({ files: 10, bytes: 64 * 1024 + 17 });
    expect(pathsOf(pushed.manifest)).toEqual([
      '*',
      '-rf',
      '__proto__',
      'binary.bin',
      'empty',
      'empty folder',
      'größe',
      'größe/日本.txt',
      'new\nline',
      'run.sh',
      'secret',
      'with space',
    ]);
    const modes = pushed.manifest.entries.flatMap((entry) => (entry.kind === 'file' ? [[entry.path, entry.mode]] : []));
    expect(Object.fromEntries(modes)).toMatchObject({ 'run.sh': 0o755, secret: 0o600 });
    const stored = (await place.store.get(pushed.manifestHash)) ?? new Uint8Array();
    expect(decodeManifest(stored)).toEqual(pushed.manifest);
    const copy = join(place.base, 'copy');
    await materialiseTree({ manifest: pushed.manifest, store: place.store, directory: copy, host });
    execFileSync('diff', ['-r', place.workspace, copy]);
    expect(Buffer.compare(readFileSync(join(copy, 'binary.bin')), binary)).toBe(0);
  });

  it('keeps links that stay inside, itself among them, and never follows one [C24]', async () => {
    const place = await openPlace({
      self: { link: '.' },
      'data/set': { link: '../real/file' },
      'real/file': 'x',
      dangling: { link: 'not/there' },
      loop: { link: 'loop' },
    });
    symlinkSync(join(place.workspace, 'real/file'), join(place.workspace, 'absolute'));
    const { manifest } = await place.push();
    expect(filesOf(manifest)).toEqual(['real/file']);
    expect(linksOf(manifest)).toEqual({
      absolute: 'real/file',
      'data/set': '../real/file',
      dangling: 'not/there',
      loop: 'loop',
      self: '.',
    });
  });

  it.each([
    ['../../../outside', 'a parent'],
    ['/etc/passwd', 'an absolute path'],
    ['deep/../../../../outside', 'a detour'],
    ['jump/../../x', 'a link on the way'],
  ])('refuses a link to %s (%s), naming it and its target [C24] [R4.2]', async (target) => {
    const place = await openPlace({ 'a/b/jump': { link: '../../top' }, 'a/b/data': { link: target }, 'top/x': '' });
    await expect(place.push()).rejects.toMatchObject({
      code: 'LINK_ESCAPE',
      path: 'a/b/data',
      message: `link a/b/data → ${target} leaves the workspace`,
      hint: `--exclude a/b/data, and read ${target} on the node`,
    });
  });

  it('refuses sockets and pipes by name, unless they are excluded [R4.4]', async () => {
    const place = await openPlace({ 'a/file': 'x' });
    execFileSync('mkfifo', [join(place.workspace, 'a/pipe')]);
    const refusal = { code: 'SPECIAL_FILE', path: 'a/pipe', hint: '--exclude a/pipe' };
    await expect(place.push()).rejects.toMatchObject(refusal);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(place.workspace, 'sock'), resolve));
    await expect(place.push({ exclude: ['pipe'] })).rejects.toMatchObject({ path: 'sock' });
    expect(filesOf((await place.push({ exclude: ['pipe', 'sock'] })).manifest)).toEqual(['a/file']);
    await new Promise((resolve) => server.close(resolve));
  });

  it('takes hard links as plain files [R4.2]', async () => {
    const place = await openPlace({ one: 'same' });
    linkSync(join(place.workspace, 'one'), join(place.workspace, 'two'));
    const { manifest, sentBlobs } = await place.push();
    expect(filesOf(manifest)).toEqual(['one', 'two']);
    expect(sentBlobs).toBe(1);
  });

  it.each(['small', 'large'])('refuses a %s file that was swapped for a link in mid-push [R4.3]', async (name) => {
    const place = await openPlace({ small: 'x', large: host.chance.bytes(100_000), 'other/secret': 'secret' });
    const path = join(place.workspace, name);
    const files = {
      ...host.files,
      lstatMany: async (paths: readonly string[]) => {
        const stats = await host.files.lstatMany(paths);
        if (!paths.includes(path)) return stats;
        unlinkSync(path);
        symlinkSync('other/secret', path);
        return stats;
      },
    };
    await expect(place.push({ host: { ...host, files } })).rejects.toMatchObject({
      code: 'CHANGED_DURING_PUSH',
      path: name,
    });
  });

  it('refuses a file whose folder was swapped for a link in mid-push [R4.3]', async () => {
    const place = await openPlace({ 'folder/x': 'mine', 'other/x': 'secret' });
    const path = join(place.workspace, 'folder');
    const files = {
      ...host.files,
      lstatMany: async (paths: readonly string[]) => {
        const stats = await host.files.lstatMany(paths);
        if (!paths.includes(join(path, 'x'))) return stats;
        renameSync(path, join(place.base, 'moved'));
        symlinkSync('other', path);
        return stats;
      },
    };
    await expect(place.push({ host: { ...host, files } })).rejects.toMatchObject({ code: 'CHANGED_DURING_PUSH' });
  });

  it('reads a file again that changes while it is read, and leaves out one that vanishes', async () => {
    const place = await openPlace({ growing: 'one', vanishing: 'x' });
    let reads = 0;
    const files = {
      ...host.files,
      readMany: async (paths: readonly string[], options: { maxBytes: number }) => {
        if (reads++ === 0) {
          rmSync(join(place.workspace, 'vanishing'));
          return paths.map((path) =>
            path.endsWith('growing') ? { kind: 'changed' as const } : { kind: 'absent' as const },
          );
        }
        writeFileSync(join(place.workspace, 'growing'), 'two');
        return host.files.readMany(paths, options);
      },
    };
    const { manifest } = await place.push({ host: { ...host, files } });
    expect(manifest.entries).toEqual([
      {
        kind: 'file',
        path: 'growing',
        mode: 0o644,
        sizeBytes: 3,
        hash: host.digests.sha256(new TextEncoder().encode('two')),
      },
    ]);
  });

  it('sends only what changed, and sees a change that keeps the size', async () => {
    const place = await openPlace({ a: 'aaaa', b: 'bbbb', 'c/d': 'dddd' });
    age(place.workspace, ['a', 'b', 'c/d']);
    expect(await place.push()).toMatchObject({ sentBlobs: 3, sentBytes: 12 });
    writeFileSync(join(place.workspace, 'b'), 'BBBB');
    expect(await place.push()).toMatchObject({ files: 3, sentBlobs: 1, sentBytes: 4 });
    chmodSync(join(place.workspace, 'a'), 0o755);
    const third = await place.push();
    expect(third.sentBlobs).toBe(0);
    expect(third.manifest.entries[0]).toMatchObject({ path: 'a', mode: 0o755 });
  });

  it('sends again what garbage collection took, though the stat cache knows it', async () => {
    const place = await openPlace({ a: 'aaaa', b: 'bbbb' });
    age(place.workspace, ['a', 'b']);
    const first = await place.push();
    await place.store.collectGarbage({ keep: new Set(), graceMs: -1 });
    const second = await place.push();
    expect(second).toMatchObject({ sentBlobs: 2, manifestHash: first.manifestHash });
    expect(await place.store.missing([second.manifestHash])).toEqual([]);
  });

  it('lets two pushes fill one store at once', async () => {
    const sketch = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`f${i}`, `content ${i}`]));
    const place = await openPlace(sketch);
    const [one, two] = await Promise.all([place.push(), place.push()]);
    expect(one.manifestHash).toBe(two.manifestHash);
    const hashes = one.manifest.entries.flatMap((entry) => (entry.kind === 'file' ? [entry.hash] : []));
    expect((await place.store.getMany(hashes)).size).toBe(200);
  });

  it('stops above its limits, naming the biggest and what to type', async () => {
    const place = await openPlace({ 'data/big': 'x'.repeat(5000), 'src/a': 'a', 'src/b': 'b', top: 't' });
    await expect(place.push({ limits: { maxBytes: 4000, maxFiles: 100 } })).rejects.toMatchObject({
      code: 'WORKSPACE_TOO_LARGE',
      path: 'data',
      hint: '--exclude /data --exclude /src --exclude /top, or --workspace . to push it all',
    });
    await expect(place.push({ limits: { maxBytes: 1e9, maxFiles: 3 } })).rejects.toMatchObject({ path: 'src' });
    await expect(place.push({ limits: { maxBytes: 4000, maxFiles: 100 }, exclude: ['/data'] })).resolves.toMatchObject({
      files: 3,
    });
  });

  it('refuses a workspace that is not there, and stops when told to', async () => {
    const place = await openPlace({ a: 'x' });
    await expect(place.push({ directory: join(place.base, 'none') })).rejects.toMatchObject({ code: 'NO_WORKSPACE' });
    await expect(place.push({ directory: join(place.workspace, 'a') })).rejects.toMatchObject({ code: 'NO_WORKSPACE' });
    const stop = new AbortController();
    stop.abort(new Error('stopped'));
    await expect(place.push({ signal: stop.signal })).rejects.toThrow('stopped');
  });

  it('refuses a name that is not UTF-8, and what this user may not read', async () => {
    const place = await openPlace({ 'a/ok': 'x' });
    const odd = Buffer.concat([Buffer.from(`${place.workspace}/a/`), Buffer.from([0x66, 0xff])]);
    writeFileSync(odd, 'x');
    await expect(place.push()).rejects.toMatchObject({ code: 'BAD_NAME', path: 'a/f\ufffd' });
    rmSync(odd);
    const denied = new HostError('EACCES', 'permission denied', join(place.workspace, 'a/ok'));
    const files = { ...host.files, readMany: () => Promise.reject(denied) };
    await expect(place.push({ host: { ...host, files } })).rejects.toMatchObject({
      code: 'UNREADABLE',
      path: 'a/ok',
      hint: 'chmod u+rX a/ok, or --exclude a/ok',
      cause: denied,
    });
  });

  it('takes a damaged stat cache for an empty one', async () => {
    const place = await openPlace({ a: 'x' });
    const later = { ...host.clock, wallMs: () => host.clock.wallMs() + 60_000 };
    const push = () => place.push({ host: { ...host, clock: later } });
    expect(await push()).toMatchObject({ files: 1, sentBlobs: 1 });
    const [cache = ''] = readdirSync(join(place.base, 'stat-cache'));
    for (const damage of ['{"version":1,"root":', '[]', `{"version":1,"root":"${place.workspace}","rows":[[1],"x"]}`]) {
      draw(join(place.base, 'stat-cache'), { [cache]: damage });
      expect(await push()).toMatchObject({ files: 1, sentBlobs: 0 });
    }
  });
});
