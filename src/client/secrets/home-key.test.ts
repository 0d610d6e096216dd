import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openHomeKey, readHomeKey } from './home-key.ts';
import { secretBytes } from './seal-for-all.ts';
import { openSealing, sealTo } from './sealing.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'runyard-key-'));
});
afterEach(() => rmSync(home, { recursive: true }));

describe('the key of a home', () => {
  it('is made once, whoever comes first, and is its owner’s alone [R4.26]', async () => {
    expect(await readHomeKey(home)).toBeNull();
    const keys = await Promise.all(Array.from({ length: 8 }, () => openHomeKey(home)));
    expect(new Set(keys.map(({ privateKey }) => privateKey)).size).toBe(1);
    expect(await readHomeKey(home)).toEqual(keys[0]);
    expect(readdirSync(home)).toEqual(['secrets.key']);
    expect(statSync(join(home, 'secrets.key')).mode & 0o777).toBe(0o600);
  });

  it('is refused when others may read it [R4.26]', async () => {
    await openHomeKey(home);
    chmodSync(join(home, 'secrets.key'), 0o644);
    await expect(openHomeKey(home)).rejects.toMatchObject({ code: 'PRIVILEGE' });
  });
});

describe('a sealed box', () => {
  it('opens with its own key alone, and says nothing of what is in it [G14]', async () => {
    const own = await openSealing(home);
    const value = new TextEncoder().encode('canary-3917');
    const boxes = await Promise.all([own.seal(value, own.publicKey), sealTo(value, own.publicKey)]);
    expect(boxes[0]).not.toBe(boxes[1]);
    for (const box of boxes) {
      expect(Buffer.from(box, 'base64').toString('latin1')).not.toContain('canary-3917');
      expect(new TextDecoder().decode((await own.open(box)) ?? undefined)).toBe('canary-3917');
    }
    rmSync(join(home, 'secrets.key'));
    const other = await openSealing(home);
    expect(await other.open(boxes[0])).toBeNull();
  });

  it('that was tampered with, or is none, does not open', async () => {
    const sealing = await openSealing(home);
    const box = Buffer.from(await sealing.seal(new TextEncoder().encode('x'), sealing.publicKey), 'base64');
    box[40] = (box[40] ?? 0) ^ 1;
    expect(await sealing.open(box.toString('base64'))).toBeNull();
    expect(await sealing.open('')).toBeNull();
    expect(await sealing.open('no box at all')).toBeNull();
  });

  it('holds a value of 1 byte to 64 KiB', () => {
    expect(secretBytes('x')).toHaveLength(1);
    expect(secretBytes('x'.repeat(64 * 1024))).toHaveLength(64 * 1024);
    expect(() => secretBytes('')).toThrow('is empty');
    expect(() => secretBytes('x'.repeat(64 * 1024 + 1))).toThrow('at most 65536 fit');
  });
});
