// Two dense layers with a rectifier between them, trained by gradient descent on the cross entropy.

/** Weights are drawn from `random()`, which gives numbers from 0 to 1. */
export function createNetwork({ inputs, hidden, outputs, random }) {
  return { layers: [createLayer(inputs, hidden, random), createLayer(hidden, outputs, random)] };
}

/** The most likely class of one image. */
export function predict(network, image) {
  const scores = forward(network, image).scores;
  return scores.indexOf(Math.max(...scores));
}

/** One pass over the digits; returns the mean loss. */
export function train(network, digits, { learningRate, batchSize }) {
  let loss = 0;
  for (let start = 0; start < digits.length; start += batchSize) {
    const batch = digits.slice(start, start + batchSize);
    for (const { image, label } of batch) loss += accumulate(network, image, label);
    for (const layer of network.layers) applyGradients(layer, learningRate / batch.length);
  }
  return loss / digits.length;
}

function createLayer(inputs, outputs, random) {
  const spread = Math.sqrt(2 / inputs);
  const layer = {
    inputs,
    outputs,
    weights: Float32Array.from({ length: inputs * outputs }, () => (random() * 2 - 1) * spread),
    biases: new Float32Array(outputs),
  };
  // Gradients are working space, not part of the model: they stay out of the file that is written.
  Object.defineProperty(layer, 'weightGradients', { value: new Float32Array(inputs * outputs) });
  Object.defineProperty(layer, 'biasGradients', { value: new Float32Array(outputs) });
  return layer;
}

function forward({ layers: [first, second] }, image) {
  const activations = dense(first, image).map((value) => Math.max(0, value));
  return { activations, scores: dense(second, activations) };
}

/** Weights lie input by input, so that a black pixel costs nothing. */
function dense({ inputs, outputs, weights, biases }, values) {
  const sums = Float32Array.from(biases);
  for (let input = 0; input < inputs; input += 1) {
    const value = values[input];
    if (value === 0) continue;
    const row = input * outputs;
    for (let output = 0; output < outputs; output += 1) sums[output] += value * weights[row + output];
  }
  return sums;
}

/** Adds one example's gradients to those of its batch and returns its loss. */
function accumulate(network, image, label) {
  const [first, second] = network.layers;
  const { activations, scores } = forward(network, image);
  const errors = softmax(scores);
  const loss = -Math.log(Math.max(errors[label], 1e-12));
  errors[label] -= 1;
  const hiddenErrors = backward(second, errors);
  for (let unit = 0; unit < first.outputs; unit += 1) if (activations[unit] === 0) hiddenErrors[unit] = 0;
  addGradients(second, activations, errors);
  addGradients(first, image, hiddenErrors);
  return loss;
}

function softmax(scores) {
  const highest = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - highest));
  const sum = powers.reduce((total, power) => total + power, 0);
  return powers.map((power) => power / sum);
}

function backward({ inputs, outputs, weights }, errors) {
  const inputErrors = new Float32Array(inputs);
  for (let input = 0; input < inputs; input += 1) {
    let sum = 0;
    for (let output = 0; output < outputs; output += 1) sum += weights[input * outputs + output] * errors[output];
    inputErrors[input] = sum;
  }
  return inputErrors;
}

function addGradients(layer, values, errors) {
  const { inputs, outputs, weightGradients, biasGradients } = layer;
  for (let output = 0; output < outputs; output += 1) biasGradients[output] += errors[output];
  for (let input = 0; input < inputs; input += 1) {
    const value = values[input];
    if (value === 0) continue;
    const row = input * outputs;
    for (let output = 0; output < outputs; output += 1) weightGradients[row + output] += value * errors[output];
  }
}

function applyGradients({ weights, biases, weightGradients, biasGradients }, rate) {
  for (let place = 0; place < weights.length; place += 1) weights[place] -= rate * weightGradients[place];
  for (let place = 0; place < biases.length; place += 1) biases[place] -= rate * biasGradients[place];
  weightGradients.fill(0);
  biasGradients.fill(0);
}
