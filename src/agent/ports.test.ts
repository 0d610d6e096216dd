import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import { chooseRange, createPorts } from './ports.ts';

const host = createNodeHost(createNodeProcesses({ directory: '/nonexistent' }));

it('gives no port twice until it is released [I24] [G2]', async () => {
  const ports = await createPorts(host);
  const taken = await Promise.all(Array.from({ length: 20 }, () => ports.take()));
  expect(new Set(taken).size).toBe(20);
  expect(Math.min(...taken)).toBeGreaterThanOrEqual(1024);
});

it('passes over a port that a stranger listens on, and one that an adopted task holds [G2]', async () => {
  const range = { ...host, chance: { ...host.chance, fraction: () => 0 } };
  const free = await (await createPorts(range)).take();
  const server = createServer().listen(free, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const ports = await createPorts(range);
    const next = await ports.take();
    expect(next).not.toBe(free);
    ports.release(next);
    ports.hold(next);
    expect([free, next]).not.toContain(await ports.take());
  } finally {
    server.close();
  }
});

it('comes to every port of the range, and soon out of a block of them that somebody holds [G2]', async () => {
  let tried = 0;
  let free = (port: number): boolean => port < 21_000 || port >= 26_000;
  const isPortFree = async (port: number): Promise<boolean> => {
    tried += 1;
    return free(port);
  };
  const files = { ...host.files, read: async () => null };
  const chance = { ...host.chance, fraction: () => 0.1 };
  const ports = await createPorts({ chance, files, network: { ...host.network, isPortFree } });
  await ports.take();
  expect(tried).toBeLessThan(10);
  free = (port) => port === 20_000 || port === 32_767;
  expect(new Set([await ports.take(), await ports.take()])).toEqual(new Set([20_000, 32_767]));
  await expect(ports.take()).rejects.toThrow('no free port');
});

it('stays out of the ephemeral range wherever that leaves room', () => {
  expect(chooseRange({ low: 32_768, high: 60_999 })).toEqual({ low: 20_000, high: 32_767 });
  expect(chooseRange({ low: 30_000, high: 60_999 })).toEqual({ low: 20_000, high: 29_999 });
  expect(chooseRange({ low: 10_000, high: 22_000 })).toEqual({ low: 22_001, high: 32_767 });
  expect(chooseRange({ low: 10_000, high: 65_535 })).toEqual({ low: 1024, high: 9999 });
  expect(chooseRange({ low: 1024, high: 65_535 })).toEqual({ low: 20_000, high: 32_767 });
});
