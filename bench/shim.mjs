// What starts processes, by itself: the same launcher that the agent uses, with no control plane, journal or log above it.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** `launcher`: `auto` as the agent chooses, `sh` for the shim in plain sh. */
export async function createShim(bench, launcher) {
  const directory = join(bench.directory, `shim-${launcher}`);
  mkdirSync(directory, { mode: 0o700 });
  const { createNodeProcesses } = await bundleHost(directory);
  const processes = createNodeProcesses({ directory, launcher });
  bench.atEnd(() => processes.close());
  return { runMany: (batch) => runMany({ processes, directory, ...batch }) };
}

async function bundleHost(directory) {
  const outfile = join(directory, 'processes.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('../src/host/node/processes.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  return import(outfile);
}

/** Starts `true` so many times, at most `atOnce` together; gives the milliseconds until each has left its exit record. */
async function runMany({ processes, directory, count, atOnce, batch }) {
  const bell = join(directory, `bell-${batch}`);
  writeFileSync(bell, '');
  const searches = [];
  const launches = [];
  const startedMs = performance.now();
  let rung = 0;
  for (let number = 0; number < count; number += 1) {
    while (number - rung >= atOnce) rung = await listen(bell, rung);
    const mark = `${batch}/${number}`;
    const place = join(directory, batch, String(number));
    mkdirSync(place, { recursive: true });
    searches.push({ mark, directory: place, leader: null });
    const launched = processes.launch({
      directory: place,
      workdir: place,
      label: 'run',
      nonce: `n${number}`,
      argv: ['true'],
      env: { PATH: process.env.PATH ?? '', RUNYARD_MARK: mark },
      mark,
      maxProcesses: null,
      memoryMiB: null,
      bell,
    });
    launches.push(launched);
  }
  await Promise.all(launches);
  while (rung < count) rung = await listen(bell, rung);
  const tookMs = performance.now() - startedMs;
  for (const search of searches) await processes.release(search);
  return tookMs;
}

/** How many have rung, a moment later at most when none has since. */
async function listen(bell, known) {
  const rung = readFileSync(bell, 'utf8').split('\n').length - 1;
  if (rung === known) await sleep(1);
  return rung;
}
