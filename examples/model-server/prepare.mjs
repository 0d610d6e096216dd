// Trains a model quickly, and keeps some digits that it has never seen for whoever wants to try it.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadDigits, pixels } from '../digits/data.mjs';
import { createNetwork, predict, train } from '../digits/network.mjs';
import { createRandom, shuffle } from '../digits/random.mjs';

const folder = process.env.RUNYARD_ENV ?? '.';
const epochs = Number(process.env.EPOCHS ?? 4);
const samples = 200;

const { training, heldOut } = await loadDigits(join(folder, 'node_modules'));
const random = createRandom(Number(process.env.SEED ?? 1));
const network = createNetwork({ inputs: pixels, hidden: 32, outputs: 10, random });
for (let epoch = 1; epoch <= epochs; epoch += 1) {
  train(network, shuffle(training, random), { learningRate: 0.1, batchSize: 16 });
}
const right = heldOut.filter(({ image, label }) => predict(network, image) === label).length;
console.log(`reads ${right} of ${heldOut.length} digits that it has never seen`);

await writeFile(join(folder, 'model.json'), JSON.stringify({ layers: network.layers }, plainNumbers));
await writeFile(join(folder, 'samples.json'), JSON.stringify(shuffle(heldOut, random).slice(0, samples), plainNumbers));

function plainNumbers(_key, value) {
  return value instanceof Float32Array ? Array.from(value, (number) => Number(number.toFixed(5))) : value;
}
