import { describe, expect, it } from 'vitest';
import { HostError } from '../host/files.ts';
import { Disk } from './disk.ts';
import { createRandom } from './random.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function newDisk(hasJournal = true): Disk {
  return new Disk({ wallMs: () => 1000, hasJournal });
}

function write(disk: Disk, path: string, text: string): void {
  const file = disk.open(path);
  if (file === null) throw new Error(`${path} exists`);
  disk.setBytes(path, file, bytes(text));
}

function text(disk: Disk, path: string): string | null {
  const found = disk.read(path);
  return found === null ? null : new TextDecoder().decode(found);
}

/** What may stand at a path after a loss of power, over many draws. */
function afterPowerLoss(prepare: (disk: Disk) => void, path: string, hasJournal = true): Set<string | null> {
  const outcomes = new Set<string | null>();
  for (let seed = 0; seed < 40; seed += 1) {
    const disk = newDisk(hasJournal);
    prepare(disk);
    disk.losePower(createRandom(seed));
    outcomes.add(text(disk, path));
  }
  return outcomes;
}

describe('the virtual disk', () => {
  it('creates a file once where that is asked for', () => {
    const disk = newDisk();
    expect(disk.open('/claim', { exclusive: true })).not.toBeNull();
    expect(disk.open('/claim', { exclusive: true })).toBeNull();
  });

  it('follows links, and finds the real path', () => {
    const disk = newDisk();
    disk.makeFolder('/a/b', 0o755);
    write(disk, '/a/b/file', 'x');
    disk.makeLink('b', '/a/link');
    disk.makeLink('round', '/round');
    expect(text(disk, '/a/link/file')).toBe('x');
    expect(disk.place('/a/link/file').path).toBe('/a/b/file');
    expect(() => disk.find('/round')).toThrow(HostError);
  });

  it('tells of changes at a path and directly below it, and of no others', () => {
    const disk = newDisk();
    disk.makeFolder('/a/b', 0o755);
    let told = 0;
    disk.watch('/a', () => {
      told += 1;
    });
    write(disk, '/a/b/deep', '');
    expect(told).toBe(0);
    write(disk, '/a/near', '');
    expect(told).toBeGreaterThan(0);
  });

  it('refuses to grow when it is full, and has room again when something goes', () => {
    const disk = newDisk();
    disk.reserve('/ballast', 1000);
    disk.fill(true);
    write(disk, '/empty', '');
    expect(() => write(disk, '/empty', 'more')).toThrow('no space left');
    disk.remove('/ballast');
    write(disk, '/empty', 'more');
    expect(disk.freeBytes).toBe(996);
  });

  it('keeps what was synced through a loss of power, and may keep or lose the rest', () => {
    const synced = (disk: Disk): void => {
      write(disk, '/file', 'synced');
      disk.sync('/file');
    };
    expect(afterPowerLoss(synced, '/file')).toEqual(new Set(['synced']));
    expect(afterPowerLoss((disk) => write(disk, '/file', 'x'), '/file')).toEqual(new Set(['x', '', null]));
    const rewritten = (disk: Disk): void => {
      synced(disk);
      write(disk, '/file', 'newer');
    };
    expect(afterPowerLoss(rewritten, '/file')).toEqual(new Set(['synced', 'newer']));
  });

  it('keeps the folder of what was synced for sure only where names change in order', () => {
    const prepare = (disk: Disk): void => {
      disk.makeFolder('/folder', 0o755);
      write(disk, '/folder/file', 'synced');
      disk.sync('/folder/file');
    };
    expect(afterPowerLoss(prepare, '/folder/file')).toEqual(new Set(['synced']));
    expect(afterPowerLoss(prepare, '/folder/file', false)).toEqual(new Set(['synced', null]));
  });

  it.each([true, false])('never has what was moved in both places or in neither (journal: %s)', (hasJournal) => {
    for (let seed = 0; seed < 40; seed += 1) {
      const disk = newDisk(hasJournal);
      disk.makeFolder('/from', 0o755);
      disk.makeFolder('/to', 0o755);
      write(disk, '/from/file', 'x');
      disk.flush();
      disk.rename('/from/file', '/to/file');
      disk.losePower(createRandom(seed));
      expect([text(disk, '/from/file'), text(disk, '/to/file')].filter((one) => one !== null)).toEqual(['x']);
    }
  });
});
