// Reads digits over HTTP: plain Node, no library.
//
//   POST /predict      { "pixels": [784 numbers from 0 to 1] }  →  { "digit": 7 }
//   GET  /samples/N    a digit that the model has never seen: { "label", "pixels" }
//   GET  /healthz      200 while the process can answer
//   GET  /readyz       200 while it wants requests: the model is loaded, and nobody has asked it to stop

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pixels } from '../digits/data.mjs';
import { predict } from '../digits/network.mjs';

const longestBody = 256 * 1024;
/** Whoever read the list of endpoints a moment ago may still come; it is answered for this long. */
const drainMs = 1000;

const folder = process.env.RUNYARD_ENV ?? '.';
let model = null;
let stopping = false;

const server = createServer((request, response) => {
  answer(request).then(
    ({ status = 200, body }) => send(response, status, body),
    (error) => send(response, 500, { error: error.message }),
  );
});
server.listen(Number(process.env.PORT ?? 8000), process.env.HOST ?? '127.0.0.1');
process.once('SIGTERM', () => void drain());
model = {
  network: JSON.parse(await readFile(join(folder, 'model.json'), 'utf8')),
  samples: JSON.parse(await readFile(join(folder, 'samples.json'), 'utf8')),
};
console.log(`process ${process.pid} answers on port ${server.address().port}`);

async function answer(request) {
  const { pathname } = new URL(request.url, 'http://server');
  const route = `${request.method} ${pathname}`;
  if (route === 'GET /healthz') return { body: { ok: true } };
  if (route === 'GET /readyz') return { status: isReady() ? 200 : 503, body: { ready: isReady() } };
  if (model === null) return { status: 503, body: { error: 'the model is being loaded' } };
  if (route === 'POST /predict') return answerPredict(await readBody(request));
  const [, position] = /^GET \/samples\/(\d+)$/.exec(route) ?? [];
  const sample = model.samples[Number(position)];
  if (sample !== undefined) return { body: { label: sample.label, pixels: sample.image } };
  return { status: 404, body: { error: `nothing at ${route}` } };
}

function isReady() {
  return model !== null && !stopping;
}

function answerPredict(text) {
  const image = text === null ? null : readPixels(text);
  if (image === null) {
    return { status: 400, body: { error: `expected { "pixels": [${pixels} numbers from 0 to 1] }` } };
  }
  return { body: { digit: predict(model.network, image), process: process.pid } };
}

/** Null when it is no image. */
function readPixels(text) {
  try {
    const { pixels: image } = JSON.parse(text);
    const isImage = Array.isArray(image) && image.length === pixels && image.every((value) => value >= 0 && value <= 1);
    return isImage ? image : null;
  } catch {
    // It is no JSON, or no object; the answer says what was expected.
    return null;
  }
}

/** Null when it is too long. */
async function readBody(request) {
  let text = '';
  for await (const bytes of request.setEncoding('utf8')) {
    text += bytes;
    if (text.length > longestBody) return null;
  }
  return text;
}

function send(response, status, body) {
  // A connection that is kept would hold up the end; while stopping each answer is the last on its connection.
  response.writeHead(status, { 'Content-Type': 'application/json', ...(stopping ? { Connection: 'close' } : {}) });
  response.end(`${JSON.stringify(body)}\n`);
}

/** Not ready at once, away only after the last answer. */
async function drain() {
  stopping = true;
  await sleep(drainMs);
  server.close(() => process.exit(0));
  server.closeIdleConnections();
}
