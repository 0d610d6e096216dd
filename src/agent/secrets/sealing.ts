/** Sealed boxes of a node: what is sealed to its public key opens here and nowhere else. Keys and boxes are base64. */
export interface Sealing {
  /** What others seal to. */
  readonly publicKey: string;
  /** The value in a box; null when it was sealed to another key, or is damaged. */
  open(box: string): Promise<Uint8Array | null>;
  /** Seals a value to somebody's public key. */
  seal(value: Uint8Array, publicKey: string): Promise<string>;
}
