// What a node costs that has nothing to do: memory and processor time over half a minute, and facts appended meanwhile.

import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { print, printSkipped } from './measure.mjs';
import { startSlurm } from './peers.mjs';
import { printProcesses, processIds, readProc, readProcesses, withDescendants } from './processes.mjs';
import { countFacts, openHome, startNode } from './yard.mjs';

const settleMs = 5000;
const watchMs = 30_000;

export async function run(bench) {
  const { home, yard } = await openHome(bench, 'idle');
  const agent = await startNode(bench, { home, yard, cpus: 4 });
  const bare = spawn(process.execPath, ['-e', 'setInterval(() => {}, 60_000)'], { stdio: 'ignore' });
  bench.atEnd(() => bare.kill('SIGKILL'));
  // A job first: an agent that has started one is what idles on most machines.
  await (await yard.jobs.submit({ job: { name: 'noop', run: ['true'] } })).wait();
  const slurm = startSlurm(bench);
  await sleep(settleMs);

  const factsBefore = await countFacts(yard);
  const processes = {
    ours: agent.pid,
    bare: bare.pid,
    slurmd: slurm === null ? undefined : findByConf(slurm.env.SLURM_CONF),
  };
  const before = readTrees(processes);
  await sleep(watchMs);
  const after = readTrees(processes);
  const facts = (await countFacts(yard)) - factsBefore;

  const show = (name, key, ours) => printProcesses(name, { before: before[key], after: after[key], watchMs, ours });
  show('yard, idle agent', 'ours', null);
  show('Node alone', 'bare', after.ours);
  if (after.slurmd === null) printSkipped('slurmd', 'slurm-wlm is not installed, or this is not root');
  else show('slurmd', 'slurmd', after.ours);
  print(`facts appended in ${watchMs / 1000} s`, [facts], { unit: 'facts', digits: 0 });
}

/** Each process with its descendants; null without a process. */
function readTrees(processes) {
  const read = (pid) => (pid === undefined ? null : readProcesses(withDescendants(pid)));
  return Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, read(pid)]));
}

function findByConf(conf) {
  return processIds().find((pid) => {
    const words = readProc(pid, 'cmdline').split('\0');
    return words[0]?.endsWith('slurmd') && words.includes(conf);
  });
}
