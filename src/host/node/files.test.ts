import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNodeFiles } from './files.ts';

const files = createNodeFiles();
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
let folder = '';
const at = (name: string): string => join(folder, name);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'runyard-files-')));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('files', () => {
  it('gives absent paths as values and other failures with code and path', async () => {
    await files.write(at('file'), text('x'));
    for (const absent of [at('none'), at('file/below')]) {
      expect(await files.read(absent)).toBeNull();
      expect(await files.readAt(absent, 0, 10)).toBeNull();
      expect(await files.lstat(absent)).toBeNull();
      expect(await files.list(absent)).toBeNull();
      expect(await files.readLink(absent)).toBeNull();
      expect(await files.realPath(absent)).toBeNull();
    }
    await files.remove(at('none'));
    await expect(files.read(folder)).rejects.toMatchObject({ name: 'HostError', code: 'EISDIR', path: folder });
    await expect(files.rename(at('none'), at('x'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('reads whole files, parts of them, and what the kernel makes up', async () => {
    const bytes = new Uint8Array(700_000).map((_, i) => i % 251);
    await files.write(at('large'), bytes);
    expect(Buffer.compare((await files.read(at('large'))) ?? text(''), bytes)).toBe(0);
    expect(await files.readAt(at('large'), 699_998, 10)).toEqual(bytes.slice(699_998));
    expect(await files.readAt(at('large'), 800_000, 10)).toEqual(new Uint8Array());
    await files.write(at('empty'), text(''));
    expect(await files.read(at('empty'))).toEqual(new Uint8Array());
    if (process.platform === 'linux') {
      expect(new TextDecoder().decode((await files.read('/proc/self/status')) ?? text(''))).toMatch(/VmRSS/);
    }
  });

  it('replaces atomically with exactly the mode asked, and leaves nothing beside', async () => {
    await files.writeAtomic(at('f'), text('one'), { mode: 0o640, sync: true });
    await files.writeAtomic(at('f'), text('two'), { mode: 0o666 });
    expect(readFileSync(at('f'), 'utf8')).toBe('two');
    expect(statSync(at('f')).mode & 0o777).toBe(0o666);
    expect(readdirSync(folder)).toEqual(['f']);
    await expect(files.writeAtomic(at('none/f'), text('x'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('creates once, and appends', async () => {
    expect(await files.createExclusive(at('claim'), text('a'))).toBe(true);
    expect(await files.createExclusive(at('claim'), text('b'))).toBe(false);
    await files.append(at('claim'), text('c'), { sync: true });
    await files.append(at('fresh'), text('d'), { sync: true });
    expect([readFileSync(at('claim'), 'utf8'), readFileSync(at('fresh'), 'utf8')]).toEqual(['ac', 'd']);
  });

  it('lists in byte order, with kinds', async () => {
    for (const name of ['b', 'a', 'Z', 'é', '😀', '\uff5e']) writeFileSync(at(name), '');
    symlinkSync('nowhere', at('link'));
    await files.makeDirectory(at('dir/deep'), { mode: 0o700, sync: true });
    const names = (await files.list(folder))?.map(({ name }) => name) ?? [];
    expect(names).toEqual([...names].sort((left, right) => Buffer.compare(Buffer.from(left), Buffer.from(right))));
    expect((await files.list(folder))?.find(({ name }) => name === 'link')?.kind).toBe('link');
    const stats = await files.lstatMany([at('dir'), at('none'), at('link')]);
    expect(stats.map((stat) => stat?.kind ?? null)).toEqual(['directory', null, 'link']);
  });

  it('reads many, never through a link, never waiting for a pipe [R4.2] [R4.3] [R4.4]', async () => {
    await files.makeDirectory(at('dir'));
    writeFileSync(at('dir/file'), 'content');
    writeFileSync(at('dir/large'), 'x'.repeat(100));
    symlinkSync('dir/file', at('link'));
    symlinkSync('dir', at('folder-link'));
    execFileSync('mkfifo', [at('pipe')]);
    const names = ['dir/file', 'dir/large', 'link', 'folder-link/file', 'pipe', 'dir', 'none'];
    const reads = await files.readMany(names.map(at), { maxBytes: 50 });
    expect(reads.map((read) => (read.kind === 'refused' ? read.what : read.kind))).toEqual([
      'read',
      'large',
      'link',
      'link',
      'fifo',
      'directory',
      'absent',
    ]);
    expect(reads[0]).toMatchObject({ bytes: text('content'), stat: { sizeBytes: 7 } });
  });

  it('copies a regular file with its new mode, and nothing else', async () => {
    writeFileSync(at('file'), 'content');
    symlinkSync('file', at('link'));
    const { before, after } = await files.copyFile(at('file'), at('copy'), { mode: 0o400, sync: true });
    expect(before).toEqual(after);
    expect(readFileSync(at('copy'), 'utf8')).toBe('content');
    expect(statSync(at('copy')).mode & 0o777).toBe(0o400);
    await expect(files.copyFile(at('link'), at('no'))).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(files.copyFile(folder, at('no'))).rejects.toMatchObject({ code: 'EINVAL' });
    await expect(files.copyFile(at('none'), at('no'))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(existsSync(at('no'))).toBe(false);
  });

  it('creates many with exact modes, and none over another', async () => {
    const [one] = await files.writeMany([{ path: at('one'), bytes: text('1'), mode: 0o777 }]);
    expect(one).toMatchObject({ kind: 'file', sizeBytes: 1, mode: 0o777 });
    const again = files.writeMany([{ path: at('one'), bytes: text('2'), mode: 0o600 }]);
    await expect(again).rejects.toMatchObject({ code: 'EEXIST', path: at('one') });
  });

  it('calls a watcher for a new file, an append, and a path that did not exist yet', async () => {
    for (const [watched, change] of [
      [folder, () => writeFileSync(at('new'), 'x')],
      [at('new'), () => writeFileSync(at('new'), 'more', { flag: 'a' })],
      [at('later'), () => writeFileSync(at('later'), 'x')],
    ] as const) {
      let end = (): void => {};
      const called = new Promise<void>((resolve) => {
        end = files.watch(watched, resolve);
      });
      change();
      await called;
      end();
    }
  });

  it('writes in place what is longer, shorter or not there yet', async () => {
    for (const content of ['one', 'longer', '', 'short']) {
      await files.write(at('in-place'), text(content), { mode: 0o600, inPlace: true });
      expect(readFileSync(at('in-place'), 'utf8')).toBe(content);
    }
    expect(statSync(at('in-place')).mode & 0o777).toBe(0o600);
  });

  it('gives blocks back while offsets stay', async () => {
    writeFileSync(at('log'), 'x'.repeat(64 * 1024));
    const isPunched = await files.punchHole(at('log'), 0, 32 * 1024);
    expect(statSync(at('log')).size).toBe(64 * 1024);
    if (isPunched) expect(statSync(at('log')).blocks).toBeLessThan(128);
    expect(await files.freeBytes(folder)).toBeGreaterThan(0);
  });
});
