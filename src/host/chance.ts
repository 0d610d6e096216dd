/** Where randomness comes from; a seed in the simulator, the system's generator elsewhere. */
export interface Chance {
  /** `length` random bytes. */
  bytes(length: number): Uint8Array;
  /** Uniform in [0, 1). For jitter only, never for identifiers. */
  fraction(): number;
}
