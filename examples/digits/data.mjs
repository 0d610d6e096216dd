// 10,000 handwritten digits from the package that package.json names. Every tenth is held out of training.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const pixels = 28 * 28;

/** `{ training, heldOut }`, each a list of `{ image, label }`. The package keeps one file of pixels (0 to 1) for each of the ten. */
export async function loadDigits(modules) {
  const digits = [];
  for (let label = 0; label < 10; label += 1) {
    const { data } = JSON.parse(await readFile(join(modules, 'mnist/src/digits', `${label}.json`), 'utf8'));
    for (let start = 0; start + pixels <= data.length; start += pixels) {
      digits.push({ image: Float32Array.from(data.slice(start, start + pixels)), label });
    }
  }
  return {
    training: digits.filter((_, position) => position % 10 !== 0),
    heldOut: digits.filter((_, position) => position % 10 === 0),
  };
}
