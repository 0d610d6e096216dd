/** Chance from a seed: the same seed gives the same draws on every machine. */
export interface Random {
  /** Uniform in [0, 1). */
  readonly fraction: () => number;
  /** Uniform whole number in [0, limit). */
  readonly below: (limit: number) => number;
  /** Uniform in [low, high). */
  readonly between: (low: number, high: number) => number;
  readonly happens: (probability: number) => boolean;
  /** Throws on an empty list. */
  readonly pick: <T>(items: readonly T[]) => T;
  readonly bytes: (length: number) => Uint8Array;
  /** Another source, so that what it is used for does not shift the draws of this one. */
  readonly fork: () => Random;
}

/** The generator sfc32, 128 bits of state filled from the seed. */
export function createRandom(seed: number): Random {
  const next = createGenerator(seed);
  const random: Random = {
    fraction: () => next() / 2 ** 32,
    below: (limit) => Math.floor((next() / 2 ** 32) * limit),
    between: (low, high) => low + (next() / 2 ** 32) * (high - low),
    happens: (probability) => next() / 2 ** 32 < probability,
    pick: (items) => {
      const item = items[random.below(items.length)];
      if (item === undefined) throw new Error('nothing to pick from');
      return item;
    },
    bytes: (length) => {
      const bytes = new Uint8Array(length);
      for (let i = 0; i < length; i += 1) bytes[i] = next() & 255;
      return bytes;
    },
    fork: () => createRandom(next()),
  };
  return random;
}

function createGenerator(seed: number): () => number {
  let [a, b, c, counter] = [0x9e3779b9, 0x243f6a88, seed >>> 0, (Math.floor(seed / 2 ** 32) >>> 0) | 1];
  const next = (): number => {
    const sum = (((a + b) | 0) + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return sum >>> 0;
  };
  for (let i = 0; i < 15; i += 1) next();
  return next;
}
