// Runyard as a user runs it: the built CLI as a process of its own, and the built SDK in this one.

import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

export const builtCli = fileURLToPath(new URL('../dist/yard.js', import.meta.url));
export const builtSdk = fileURLToPath(new URL('../dist/index.js', import.meta.url));

/** A fresh home and the SDK on it. */
export async function openHome(bench, name) {
  const home = join(bench.directory, name);
  mkdirSync(home, { mode: 0o700 });
  const { Runyard } = await import(builtSdk);
  const yard = await Runyard.open({ home });
  bench.atEnd(() => yard.close());
  return { home, yard };
}

/** `yard node start` as a process of its own, ready for work; ends with the bench. Returns the process. */
export async function startNode(bench, { home, yard, cpus }) {
  const node = ['node', 'start', '--home', home, '--name', 'bench', '--cpus', String(cpus)];
  const agent = spawn(process.execPath, [builtCli, ...node], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  agent.stdout.on('data', (bytes) => (said += bytes));
  agent.stderr.on('data', (bytes) => (said += bytes));
  const ended = new Promise((resolve) => agent.once('exit', resolve));
  bench.atEnd(async () => {
    agent.kill('SIGTERM');
    const inTime = await Promise.race([ended.then(() => true), sleep(10_000, false, { ref: false })]);
    if (!inTime) agent.kill('SIGKILL');
    await ended;
  });
  for (let tries = 0; tries < 400; tries += 1) {
    if (agent.exitCode !== null) throw new Error(`the node ended early with code ${agent.exitCode}:\n${said}`);
    if ((await yard.nodes.list()).some(({ id, state }) => id === 'bench' && state === 'READY')) return agent;
    await sleep(50);
  }
  throw new Error(`the node was not ready within 20 s:\n${said}`);
}

export async function countFacts(yard) {
  let facts = 0;
  for await (const event of yard.events()) facts = event.seq;
  return facts;
}
