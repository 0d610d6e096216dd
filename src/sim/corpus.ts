/** A seed that once failed, and the fault that it found. The test runs them all, whatever they draw today. */
export interface KeptSeed {
  readonly seed: number;
  readonly found: string;
  /** It is one of those with services. */
  readonly services?: boolean;
}

/** Kept for ever. A change of the simulator changes what a seed draws; the history of the repository has the old draws. */
export const corpus: readonly KeptSeed[] = [
  { seed: 37, found: 'a commit that failed took its batches from those who listen: an order was never given' },
  { seed: 113, found: 'the same: an agent waited for ever at the step before' },
  { seed: 8, found: 'the same, with an attempt that had to be stopped' },
  { seed: 63, found: 'a job that a node could take at once was said to fit nowhere' },
  { seed: 944, found: 'a full disk ended the agent again and again, where it should only hold up starts' },
  { seed: 213, found: 'a step under which its attempt was put aside ended the agent' },
  { seed: 382, found: 'after a power loss and a failed join an attempt started a second time' },
  { seed: 12, found: 'an agent that died between two folders left an attempt without its work directory' },
  { seed: 135, found: 'what could not be killed was never put aside once it was gone' },
  { seed: 167, found: 'an agent did not release what the agent before it could not kill' },
  { seed: 217, found: 'the same, in a third attempt' },
  { seed: 137, found: 'what fell due just before a machine whose clock is behind decided something never came' },
  { seed: 20, services: true, found: 'whoever waited for the last fraction of a bit waited for ever at one moment' },
  {
    seed: 81,
    services: true,
    found: 'an old replica that was available went before one that had only just become ready',
  },
  {
    seed: 123,
    services: true,
    found: 'an agent repeated an old verdict, as the one before died on writing down its last',
  },
  {
    seed: 20122,
    services: true,
    found: 'a replica that is never restarted and has no probes was never said to be ready',
  },
];
