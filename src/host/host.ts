import type { Compression, Digests } from './bytes.ts';
import type { Chance } from './chance.ts';
import type { Clock, Timers } from './clock.ts';
import type { Files } from './files.ts';
import type { Machine } from './machine.ts';
import type { Network } from './network.ts';
import type { Processes } from './processes.ts';

/**
 * The outside, as the floors above see it. `host/node/` implements it on a real machine, `sim/` in virtual time.
 * A simulated crash leaves pending calls unsettled for ever, as a real one does.
 */
export interface Host {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly chance: Chance;
  readonly files: Files;
  readonly processes: Processes;
  readonly network: Network;
  readonly digests: Digests;
  readonly compression: Compression;
  readonly machine: Machine;
}
