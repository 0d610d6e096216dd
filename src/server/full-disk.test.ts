import { execFileSync, spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Served, serve } from './served.testsuite.ts';

let home: string;
let isMounted = false;
let served: Served | null = null;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'yard-full-'));
  isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m,mode=0700', 'none', home]).status === 0;
});
afterEach(async () => {
  await served?.end();
  if (isMounted) execFileSync('umount', ['-l', home]);
  rmSync(home, { recursive: true, force: true });
});

describe('a server whose disk is full', () => {
  it('applies nothing, says so, and goes on once there is room [R4.44]', async (test) => {
    test.skip(!isMounted, 'a disk of its own can be mounted by root only');
    served = await serve({ home });
    fill(`${home}/filler`);
    const body = { submission: { job: { name: 'late', run: 'true', env: { A: 'x'.repeat(100_000) } } } };
    const told = await served.ask('POST', '/v1/jobs', { body });
    expect(told).toMatchObject({ status: 507, json: { error: { code: 'STORE_FULL' } } });
    const bytes = Buffer.alloc(4_000_000);
    const hash = 'd1ab5ba4bf0fc5c30d5dba9eb3a4ddbdbfd3c7d9c8bcaef8aee1b6b6e3a8c2aa';
    const blob = await served.ask('PUT', `/v1/blobs/${hash}`, { body: bytes });
    expect(blob).toMatchObject({ status: 507, json: { error: { code: 'STORE_FULL' } } });
    expect(await served.ask('GET', '/v1/jobs')).toMatchObject({ status: 200, json: { items: [] } });
    rmSync(`${home}/filler`);
    expect((await served.ask('POST', '/v1/jobs', { body })).status).toBe(200);
  });
});

/** Takes every block that is left. */
function fill(path: string): void {
  const file = openSync(path, 'w');
  try {
    for (let sizeBytes = 1 << 20; sizeBytes >= 1; ) {
      try {
        writeSync(file, Buffer.alloc(sizeBytes));
      } catch {
        sizeBytes >>= 1;
      }
    }
  } finally {
    closeSync(file);
  }
}
