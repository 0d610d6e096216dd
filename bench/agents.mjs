// What a server costs with five hundred agents connected that have nothing to do, and what two hundred followers of a
// log leave behind. The agents are light: each speaks the protocol over its own WebSocket, all in this process.

import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import WebSocket from 'ws';
import { print } from './measure.mjs';
import { printProcesses, readProcesses } from './processes.mjs';
import { builtCli } from './yard.mjs';

const agents = 500;
const followers = 200;
const watchMs = 60_000;
const settleMs = 6000;

export async function run(bench) {
  const server = await startServer(bench);
  const began = performance.now();
  const nodes = [];
  for (let at = 0; at < agents; at += 25) {
    const names = Array.from({ length: Math.min(25, agents - at) }, (_, n) => `light-${at + n}`);
    nodes.push(...(await Promise.all(names.map((name) => connectLight(bench, server, name)))));
  }
  print(`${agents} agents joined and connected`, [performance.now() - began], { unit: 'ms', digits: 0 });
  await sleep(settleMs);
  const seqBefore = await lastSeq(server);
  const before = readProcesses([server.pid]);
  await sleep(watchMs);
  const after = readProcesses([server.pid]);
  printProcesses(`server with ${agents} agents`, { before, after, watchMs, ours: null });
  print(`facts appended in ${watchMs / 1000} s`, [(await lastSeq(server)) - seqBefore], { unit: 'facts', digits: 0 });
  print('heartbeats answered', [nodes.reduce((sum, node) => sum + node.heard, 0)], { unit: '', digits: 0 });
  await measureFollowers(server, nodes);
}

async function measureFollowers(server, nodes) {
  const spec = { name: 'chatty', run: 'never run: the agents are light' };
  const { id } = await ask(server, 'POST', '/v1/jobs', { body: { submission: { job: spec } } });
  const node = await ordered(nodes, id);
  const task = `${id}.0.0.1`;
  await push(server, { node, task, offset: 0, text: 'first line\n' });
  await sleep(settleMs);
  const before = countDescriptors(server.pid);
  const open = await Promise.all(Array.from({ length: followers }, () => follow(server, id)));
  await push(server, { node, task, offset: 11, text: 'second line\n' });
  await Promise.all(open.map(({ saw }) => saw('second line')));
  const during = countDescriptors(server.pid);
  for (const { end } of open) end();
  let after = countDescriptors(server.pid);
  for (let tries = 0; tries < 50 && after > before; tries += 1) {
    await sleep(200);
    after = countDescriptors(server.pid);
  }
  print('descriptors before the followers', [before], { unit: '', digits: 0 });
  print(`with ${followers} followers of one log`, [during], { unit: '', digits: 0 });
  print('after they went', [after], { unit: '', digits: 0 });
}

async function startServer(bench) {
  const home = join(bench.directory, 'served');
  const child = spawn(process.execPath, [builtCli, 'server', 'start', '--json', '--listen', '127.0.0.1:0'], {
    env: { ...process.env, RUNYARD_HOME: home },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  bench.atEnd(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  const { url } = JSON.parse(line);
  const token = readFileSync(`${home}/server/admin.token`, 'utf8').trim();
  const agent = new Agent({ keepAlive: true, rejectUnauthorized: false, maxSockets: 50 });
  return { url, token, agent, pid: child.pid };
}

/** Lets a node in and speaks for it from then on. */
async function connectLight(bench, server, name) {
  const key = randomBytes(32).toString('hex');
  const keyHash = createHash('sha256').update(key).digest('hex');
  const { token } = await ask(server, 'POST', '/v1/tokens', { body: { kind: 'join' } });
  await ask(server, 'POST', '/v1/nodes/join', { token, body: { node: name, keyHash } });
  const light = { name, token: `yk_${name}_${key}`, heard: 0, orders: [] };
  const socket = new WebSocket(`${server.url.replace('https', 'wss')}/v1/agent`, {
    rejectUnauthorized: false,
    perMessageDeflate: false,
    headers: { authorization: `Bearer ${light.token}` },
  });
  await once(socket, 'open');
  const welcomed = new Promise((resolve, reject) => {
    socket.on('message', (data) => {
      const message = JSON.parse(data);
      if (message.kind === 'welcome') resolve(message);
      if (message.kind === 'orders') light.orders.push(...message.changes);
      if (message.kind === 'heard') light.heard += 1;
      if (message.kind === 'refused') reject(new Error(message.message));
    });
    socket.once('close', (_code, reason) => reject(new Error(`closed: ${reason.toString()}`)));
  });
  socket.send(JSON.stringify(helloOf(name)));
  const { heartbeatMs } = await welcomed;
  let seq = 0;
  const beat = () => socket.send(JSON.stringify({ kind: 'heartbeat', seq: seq++ }));
  const timer = setInterval(beat, heartbeatMs);
  bench.atEnd(() => {
    clearInterval(timer);
    socket.terminate();
  });
  return light;
}

function helloOf(node) {
  const capacity = { cpus: 1, memoryMiB: 1024, gpus: [], labels: {} };
  const hello = { node, instance: randomBytes(8).toString('hex'), bootId: 'bench', capacity, advertise: '127.0.0.1' };
  return {
    kind: 'hello',
    versions: [1],
    place: 'bench',
    node: { ...hello, platform: 'linux', version: '0.0.0', inventory: [], wallMs: Date.now() },
  };
}

async function ordered(nodes, job) {
  for (;;) {
    const found = nodes.find(({ orders }) => orders.some(({ key }) => key.job === job));
    if (found !== undefined) return found;
    await sleep(20);
  }
}

function push(server, { node, task, offset, text }) {
  const path = `/v1/agent/logs/${task}/run.out?offset=${offset}`;
  return ask(server, 'PUT', path, { token: node.token, bytes: Buffer.from(text) });
}

/** One follower: `saw` resolves when a text has come. */
function follow(server, id) {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}/v1/jobs/${id}/logs?follow=true`, {
      agent: false,
      rejectUnauthorized: false,
      headers: { authorization: `Bearer ${server.token}` },
    });
    asked.once('error', reject);
    asked.once('response', (response) => {
      let text = '';
      let look = () => {};
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
        look();
      });
      response.on('error', () => {});
      const saw = (wanted) =>
        new Promise((done) => {
          look = () => printed(text).includes(wanted) && done();
          look();
        });
      resolve({ saw, end: () => response.destroy() });
    });
    asked.end();
  });
}

/** What the events of a log say that was printed. */
function printed(events) {
  const pieces = [...events.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data).bytes ?? '');
  return pieces.map((bytes) => Buffer.from(bytes, 'base64').toString()).join('');
}

async function lastSeq(server) {
  const text = await askText(server, '/metrics');
  return Number(/^runyard_log_seq (\d+)/m.exec(text)?.[1] ?? 0);
}

function countDescriptors(pid) {
  return readdirSync(`/proc/${pid}/fd`).length;
}

async function ask(server, method, path, { token = server.token, body, bytes } = {}) {
  const sent = bytes ?? (body === undefined ? undefined : Buffer.from(JSON.stringify(body)));
  const type = bytes === undefined ? 'application/json' : 'application/octet-stream';
  const text = await send(server, { method, path, token, sent, type });
  return text === '' ? undefined : JSON.parse(text);
}

function askText(server, path) {
  return send(server, { method: 'GET', path, token: server.token });
}

function send(server, { method, path, token, sent, type }) {
  return new Promise((resolve, reject) => {
    const asked = request(`${server.url}${path}`, {
      method,
      agent: server.agent,
      headers: {
        authorization: `Bearer ${token}`,
        ...(sent === undefined ? {} : { 'content-type': type, 'content-length': sent.length }),
      },
    });
    asked.once('error', reject);
    asked.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
      });
      response.once('end', () => {
        if (response.statusCode < 300) resolve(text);
        else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`));
      });
    });
    asked.end(sent);
  });
}
