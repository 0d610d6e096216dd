import type { Compression } from '../host/bytes.ts';
import { HostError } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import type { Disk } from './disk.ts';
import type { Incarnation } from './incarnation.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { Truth } from './truth.ts';
import { createVirtualFiles } from './virtual-files.ts';
import { virtualHash } from './virtual-hash.ts';
import { createVirtualNetwork } from './virtual-network.ts';
import { createVirtualProcesses } from './virtual-processes.ts';

export interface VirtualHostOptions {
  readonly incarnation: Incarnation;
  readonly machine: Machine;
  readonly random: Random;
  readonly truth: Truth;
  readonly ownPid: number;
  readonly logSeq: () => number;
  /** The disk that every machine sees under /shared. */
  readonly sharedDisk: Disk;
  /** How often a notice of a changed file comes as late as the contract allows, from 0 to 1. */
  readonly lateNotices: number;
  readonly onLateNotice?: () => void;
  /** Whether a shim of it is killed before its next step. */
  readonly shimDies: () => boolean;
  /** How long the next step of a shim of it is held up, in milliseconds. */
  readonly stallMs: () => number;
}

/** The outside, as one incarnation of a program sees it on its machine. */
export function createVirtualHost(options: VirtualHostOptions): Host {
  const { incarnation, machine, random, truth, ownPid, logSeq, sharedDisk, lateNotices, shimDies, stallMs } = options;
  const { onLateNotice = () => {} } = options;
  const latencyMs = (): number => random.between(0.02, 0.4);
  return {
    clock: {
      wallMs: () => machine.wallMs(),
      bootMs: () => machine.bootMs(),
      bootId: () => machine.bootId(),
    },
    timers: { after: (delayMs, callback) => incarnation.after(Math.max(delayMs, shortestSleepMs), callback) },
    chance: { bytes: (length) => random.bytes(length), fraction: () => random.fraction() },
    files: createVirtualFiles({
      incarnation,
      diskOf: (path) => (path.startsWith('/shared/') ? sharedDisk : machine.disk),
      latencyMs: (kind) => latencyMs() * machine.slowness * (kind === 'sync' ? 10 : 1),
      noticeMs: () => {
        if (!random.happens(lateNotices)) return random.between(0.05, 1);
        onLateNotice();
        return random.between(20, 100);
      },
    }),
    processes: createVirtualProcesses({ incarnation, machine, truth, ownPid, logSeq, latencyMs, shimDies, stallMs }),
    network: createVirtualNetwork({ incarnation, machine, latencyMs }),
    digests: {
      sha256: virtualHash,
      timingSafeEqual: Object.is,
      sha256File: (path) =>
        incarnation.call(latencyMs(), () => {
          const bytes = (path.startsWith('/shared/') ? sharedDisk : machine.disk).read(path);
          return bytes === null ? null : { hash: virtualHash(bytes), sizeBytes: bytes.length };
        }),
    },
    compression: identityCompression(incarnation, latencyMs),
    machine: {
      hostname: () => machine.name,
      user: () => 'someone',
      cpus: () => 8,
      memoryMiB: () => 16_384,
      platform: () => 'linux',
      path: () => '/bin',
      homeDirectory: () => '/home/someone',
    },
  };
}

/** No timer is finer; without it, whoever waits for the last fraction of a bit would wait for ever at one moment. */
const shortestSleepMs = 0.001;

/** Compressing costs time and changes nothing that a simulation looks at. */
function identityCompression(incarnation: Incarnation, latencyMs: () => number): Compression {
  return {
    gzip: (bytes) => incarnation.call(latencyMs(), () => bytes.slice()),
    gunzip: (bytes, maxBytes) =>
      incarnation.call(latencyMs(), () => {
        if (bytes.length > maxBytes) throw new HostError('TOO_LARGE', `${bytes.length} bytes are too many`, null);
        return bytes.slice();
      }),
  };
}
