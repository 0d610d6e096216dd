import type { KeptSeed } from '../corpus.ts';

/**
 * Seeds of the served world that once failed. Each found a fault of the product when it was first run; a change of the
 * simulator changes what a seed draws, and the history of the repository has the old draws.
 */
export const keptServedSeeds: readonly KeptSeed[] = [
  { seed: 63, found: 'a dismissed agent ended before what its orders had just taken back was gone' },
  { seed: 37, services: true, found: 'what was to end before it could begin came up after the last look for it' },
  { seed: 46, services: true, found: 'nodes silent after an outage were lost early once others came back' },
  { seed: 22, found: 'a heartbeat from before the server slept took back the long lease' },
  { seed: 2099, found: 'what a node had ended while it was lost was never given back' },
  { seed: 2058, found: 'an agent that ended all failed on an attempt that was just put aside, and left the others' },
  { seed: 21, found: 'a full disk took away a heartbeat that had been heard' },
  { seed: 97, found: 'a node was lost with the very look at which a third fell silent' },
  { seed: 90067, found: 'values of secrets stayed on a disk that lost the word where they are with its power' },
  { seed: 90293, found: 'a hello of an agent that had died came after that of the next, which was never heard again' },
];
