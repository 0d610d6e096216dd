// A network of one hidden layer learns to read handwritten digits: plain Node, no library but the data.
// Every tenth digit is held out of the training; the accuracy printed is that on the held-out ones.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadDigits, pixels } from './data.mjs';
import { createNetwork, predict, train } from './network.mjs';
import { createRandom, shuffle } from './random.mjs';

const seed = Number(process.env.SEED ?? 1);
const epochs = Number(process.env.EPOCHS ?? 10);
const learningRate = Number(process.env.LEARNING_RATE ?? 0.1);
const hidden = 32;

const { training, heldOut } = await loadDigits(join(process.env.RUNYARD_ENV ?? '.', 'node_modules'));
console.log(`${training.length} digits to learn from, ${heldOut.length} held out`);

const random = createRandom(seed);
const network = createNetwork({ inputs: pixels, hidden, outputs: 10, random });
const metrics = [];
for (let epoch = 1; epoch <= epochs; epoch += 1) {
  const loss = train(network, shuffle(training, random), { learningRate, batchSize: 16 });
  const accuracy = measure(network, heldOut);
  metrics.push({ epoch, loss, accuracy });
  console.log(`epoch ${epoch}  loss ${loss.toFixed(3)}  accuracy ${accuracy.toFixed(3)}`);
  await writeFile('metrics.jsonl', metrics.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
await writeFile(
  'model.json',
  JSON.stringify({ pixels, hidden, seed, learningRate, layers: network.layers }, roundFloats),
);
console.log(`accuracy ${(metrics.at(-1)?.accuracy ?? 0).toFixed(3)} on digits it has never seen`);

function measure(model, digits) {
  const right = digits.filter(({ image, label }) => predict(model, image) === label);
  return right.length / digits.length;
}

function roundFloats(_key, value) {
  return value instanceof Float32Array ? Array.from(value, (weight) => Number(weight.toFixed(5))) : value;
}
