import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createNodeChance } from './chance.ts';
import { createNodeCompression } from './compression.ts';
import { createNodeDigests } from './digests.ts';
import { createNodeMachine } from './machine.ts';
import { createNodeNetwork } from './network.ts';

describe('the network', () => {
  it.each(['127.0.0.1', '0.0.0.0', undefined])('knows a port as taken while somebody listens on %s', async (host) => {
    const network = createNodeNetwork();
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen({ port: 0, ...(host === undefined ? {} : { host }) }, resolve));
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    expect(await network.isPortFree(port)).toBe(false);
    expect(await network.canConnect(port, 2000)).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(await network.isPortFree(port)).toBe(true);
    expect(await network.canConnect(port, 2000)).toBe(false);
  });
});

describe('compression', () => {
  it('gives back what it took, and refuses a bomb and what is no gzip [R4.16]', async () => {
    const compression = createNodeCompression();
    const zeros = new Uint8Array(10_000_000);
    const packed = await compression.gzip(zeros);
    expect((await compression.gunzip(packed, 10_000_000)).length).toBe(10_000_000);
    await expect(compression.gunzip(packed, 9_999_999)).rejects.toMatchObject({ name: 'HostError', code: 'TOO_LARGE' });
    await expect(compression.gunzip(new Uint8Array([1, 2, 3]), 100)).rejects.toMatchObject({ name: 'HostError' });
  });
});

describe('digests, chance and the machine', () => {
  it('knows the hash of nothing, and of a file that is absent', async () => {
    const digests = createNodeDigests();
    expect(digests.sha256(new Uint8Array())).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(await digests.sha256File('/nowhere/at/all')).toBeNull();
    expect(['ab', 'ac', 'abc', ''].map((one) => digests.timingSafeEqual('ab', one))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it('draws bytes that differ and fractions below one', () => {
    const chance = createNodeChance();
    expect(chance.bytes(16)).toHaveLength(16);
    expect(chance.bytes(16)).not.toEqual(chance.bytes(16));
    const fraction = chance.fraction();
    expect(fraction >= 0 && fraction < 1).toBe(true);
  });

  it('describes this machine', () => {
    const machine = createNodeMachine();
    expect(machine.cpus()).toBeGreaterThan(0);
    expect(machine.memoryMiB()).toBeGreaterThan(0);
    expect(machine.hostname()).not.toBe('');
    expect(machine.path()).toContain('/bin');
  });
});
