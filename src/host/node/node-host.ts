import type { Host } from '../host.ts';
import type { Processes } from '../processes.ts';
import { createNodeChance } from './chance.ts';
import { createNodeClock } from './clock.ts';
import { createNodeCompression } from './compression.ts';
import { createNodeDigests } from './digests.ts';
import { createNodeFiles } from './files.ts';
import { createNodeMachine } from './machine.ts';
import { createNodeNetwork } from './network.ts';
import { createNodeTimers } from './timers.ts';

/** The real outside of this machine. */
export function createNodeHost(processes: Processes): Host {
  return {
    clock: createNodeClock(),
    timers: createNodeTimers(),
    chance: createNodeChance(),
    files: createNodeFiles(),
    processes,
    network: createNodeNetwork(),
    digests: createNodeDigests(),
    compression: createNodeCompression(),
    machine: createNodeMachine(),
  };
}
