// No-op jobs a second: one array of 1,000 from the call that submits to the last one COMPLETED, on a node of 64 cores.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { interleave, print, printSkipped } from './measure.mjs';
import { hasProgram, startSlurm } from './peers.mjs';
import { createShim } from './shim.mjs';
import { openHome, startNode } from './yard.mjs';

const count = 1000;
const rounds = 3;
const cores = 64;

export async function run(bench) {
  const { home, yard } = await openHome(bench, 'jobs');
  await startNode(bench, { home, yard, cpus: cores });
  await runArray(yard, 64);

  const actions = {
    ours: () => perSecond(() => runArray(yard, count)),
    launcher: await shimBench(bench, 'auto'),
    shim: await shimBench(bench, 'sh'),
  };
  if (hasProgram('parallel')) actions.parallel = () => perSecond(() => runParallel(16));
  const figures = await interleave(rounds, actions);
  print('yard, array of 1,000 × true', figures.ours, { unit: 'jobs/s', digits: 0 });
  print('the launcher alone (auto)', figures.launcher, { unit: 'jobs/s', digits: 0, ratioTo: figures.ours });
  print('the sh shim alone', figures.shim, { unit: 'jobs/s', digits: 0, ratioTo: figures.ours });
  if (figures.parallel === undefined) printSkipped('GNU parallel -j16', 'parallel is not installed');
  else print('GNU parallel -j16', figures.parallel, { unit: 'jobs/s', digits: 0, ratioTo: figures.ours });

  const slurm = startSlurm(bench);
  if (slurm === null) return printSkipped('Slurm, tuned, one array', 'slurm-wlm is not installed, or this is not root');
  const theirs = [await perSecond(() => runSlurmArray(bench, slurm))];
  print('Slurm, tuned, one array', theirs, { unit: 'jobs/s', digits: 0, ratioTo: figures.ours });
}

async function runArray(yard, size) {
  const job = await yard.jobs.submit({ job: { name: 'noop', run: ['true'] }, profile: { array: { size } } });
  const { state, outcome } = await job.wait();
  if (state !== 'COMPLETED') throw new Error(`${job.id} ended ${state}: ${outcome?.message}`);
}

async function shimBench(bench, launcher) {
  const shim = await createShim(bench, launcher);
  let turn = 0;
  return async () => {
    turn += 1;
    return count / ((await shim.runMany({ count, atOnce: cores, batch: `${launcher}-${turn}` })) / 1000);
  };
}

function runParallel(atOnce) {
  const input = Array.from({ length: count }, (_, number) => `${number}\n`).join('');
  const { status, stderr } = spawnSync('parallel', [`-j${atOnce}`, 'true', '{}'], { input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`parallel ended with ${status}: ${stderr}`);
}

/** Slurm writes a line for each job that has ended. */
async function runSlurmArray(bench, slurm) {
  const script = join(bench.directory, 'noop.sh');
  writeFileSync(script, '#!/bin/sh\ntrue\n', { mode: 0o755 });
  const before = countLines(slurm.completions);
  const submission = ['-o', '/dev/null', `--array=1-${count}`, script];
  const { status, stderr } = spawnSync('sbatch', submission, { env: slurm.env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`sbatch ended with ${status}: ${stderr}`);
  const deadlineMs = performance.now() + 300_000;
  while (countLines(slurm.completions) < before + count) {
    if (performance.now() > deadlineMs) throw new Error('Slurm had not finished the array after five minutes');
    await sleep(20);
  }
}

async function perSecond(action) {
  const startedMs = performance.now();
  await action();
  return count / ((performance.now() - startedMs) / 1000);
}

function countLines(file) {
  try {
    return readFileSync(file, 'utf8').split('\n').length - 1;
  } catch {
    // Slurm creates the file with the first job that ends.
    return 0;
  }
}
