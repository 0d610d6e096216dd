import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses, type NodeProcesses } from '../host/node/processes.ts';
import { createDiskGuard, makeRoomToBegin } from './disk-guard.ts';

const mebi = 1024 * 1024;
let directory: string;
let processes: NodeProcesses;
let host: Host;
/** What is said to be free beside the ballast. */
let freeBytes: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'runyard-guard-'));
  processes = createNodeProcesses({ directory });
  const real = createNodeHost(processes);
  const reserve = async (path: string): Promise<boolean> => {
    await real.files.write(path, new Uint8Array());
    return true;
  };
  host = { ...real, files: { ...real.files, reserve, freeBytes: () => Promise.resolve(freeBytes) } };
});
afterEach(() => {
  processes.close();
  rmSync(directory, { recursive: true });
});

const isHeld = (): boolean => existsSync(join(directory, 'ballast'));
const never = new AbortController().signal;

it('holds room back on a disk with plenty, gives it up when a write fails, and holds it again with plenty', async () => {
  freeBytes = 2048 * mebi;
  const guard = await createDiskGuard(host, directory);
  expect(isHeld()).toBe(true);
  await guard.giveUpBallast();
  freeBytes = 256 * mebi;
  await guard.waitForRoom(never);
  expect(isHeld()).toBe(false);
  await guard.giveUpBallast();
  freeBytes = 2048 * mebi;
  await guard.waitForRoom(never);
  expect(isHeld()).toBe(true);
});

it('gives it up for an agent that begins on a full disk, and for no other', async () => {
  freeBytes = 2048 * mebi;
  await createDiskGuard(host, directory);
  await makeRoomToBegin(host.files, directory);
  expect(isHeld()).toBe(true);
  freeBytes = 1000;
  await makeRoomToBegin(host.files, directory);
  expect(isHeld()).toBe(false);
});
