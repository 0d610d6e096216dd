// From the call that submits to the first instruction of the job, on a node that is up: the job itself says when it began.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { print, printSkipped, quantile } from './measure.mjs';
import { startSlurm } from './peers.mjs';
import { openHome, startNode } from './yard.mjs';

const warmUps = 5;
const submissions = 100;
const sruns = 20;

export async function run(bench) {
  const stamp = join(bench.directory, 'stamp');
  // Bash has the time without starting a program; every side pays for the same bash.
  const script = `echo "$EPOCHREALTIME" > '${stamp}'`;

  const ours = await measureSdk(bench, script, stamp);
  print('submit → first instruction, SDK, p50', ours, { unit: 'ms', digits: 2 });
  print('  p95', [quantile(ours, 0.95)], { unit: 'ms', digits: 2 });

  const slurm = startSlurm(bench);
  if (slurm === null) return printSkipped('Slurm srun', 'slurm-wlm is not installed, or this is not root');
  const theirs = measureSrun(slurm, script, stamp);
  print('Slurm srun, tuned, p50', theirs, { unit: 'ms', digits: 2, ratioTo: ours });
  print('  p95', [quantile(theirs, 0.95)], { unit: 'ms', digits: 2 });
}

async function measureSdk(bench, script, stamp) {
  const { home, yard } = await openHome(bench, 'latency');
  await startNode(bench, { home, yard, cpus: 4 });
  const figures = [];
  for (let turn = 0; turn < warmUps + submissions; turn += 1) {
    const calledMs = wallMs();
    const job = await yard.jobs.submit({ job: { name: 'stamp', run: script } });
    const { state, outcome } = await job.wait();
    if (state !== 'COMPLETED') throw new Error(`${job.id} ended ${state}: ${outcome?.message}`);
    if (turn >= warmUps) figures.push(readStampMs(stamp) - calledMs);
  }
  return figures;
}

function measureSrun(slurm, script, stamp) {
  const figures = [];
  for (let turn = 0; turn < 1 + sruns; turn += 1) {
    const calledMs = wallMs();
    const { status, stderr } = spawnSync('srun', ['-Q', 'bash', '-c', script], { env: slurm.env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`srun ended with ${status}: ${stderr}`);
    if (turn >= 1) figures.push(readStampMs(stamp) - calledMs);
  }
  return figures;
}

/** Wall clock in milliseconds with a fraction, as the job's own stamp has it. */
function wallMs() {
  return performance.timeOrigin + performance.now();
}

function readStampMs(stamp) {
  return Number(readFileSync(stamp, 'utf8').trim().replace(',', '.')) * 1000;
}
