// What a node costs that has nothing to do: memory and processor time over half a minute, and facts appended meanwhile.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { print, printSkipped } from './measure.mjs';
import { startSlurm } from './peers.mjs';
import { openHome, startNode } from './yard.mjs';

const settleMs = 5000;
const watchMs = 30_000;
const ticksPerSecond = 100;

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
  const before = Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, readTree(pid)]));
  await sleep(watchMs);
  const after = Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, readTree(pid)]));
  const facts = (await countFacts(yard)) - factsBefore;

  printTree('yard, idle agent', before.ours, after.ours, null);
  printTree('Node alone', before.bare, after.bare, after.ours);
  if (after.slurmd === null) printSkipped('slurmd', 'slurm-wlm is not installed, or this is not root');
  else printTree('slurmd', before.slurmd, after.slurmd, after.ours);
  print(`facts appended in ${watchMs / 1000} s`, [facts], { unit: 'facts', digits: 0 });
}

function printTree(name, before, after, ours) {
  print(`${name}, resident`, [after.residentMiB], { unit: 'MiB', ratioTo: ours === null ? null : [ours.residentMiB] });
  print(`${name}, proportional`, [after.proportionalMiB], {
    unit: 'MiB',
    ratioTo: ours === null ? null : [ours.proportionalMiB],
  });
  const busyMs = ((after.ticks - before.ticks) / ticksPerSecond) * 1000;
  print(`${name}, processor`, [(busyMs / watchMs) * 100], { unit: '%', digits: 2, note: `${after.count} processes` });
}

async function countFacts(yard) {
  let facts = 0;
  for await (const event of yard.events()) facts = event.seq;
  return facts;
}

/** A process and its descendants together; null without a process. */
function readTree(root) {
  if (root === undefined) return null;
  const sum = { residentMiB: 0, proportionalMiB: 0, ticks: 0, count: 0 };
  for (const pid of withDescendants(root)) {
    const memory = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
    sum.residentMiB += kibOf(memory, 'Rss') / 1024;
    sum.proportionalMiB += kibOf(memory, 'Pss') / 1024;
    const fields = statFields(pid);
    sum.ticks += Number(fields[11]) + Number(fields[12]);
    sum.count += 1;
  }
  return sum;
}

function withDescendants(root) {
  const parents = new Map(processIds().map((pid) => [pid, Number(statFields(pid)?.[1])]));
  const family = [root];
  for (const member of family) for (const [pid, parent] of parents) if (parent === member) family.push(pid);
  return family;
}

/** Fields of /proc/PID/stat after the name, which may hold anything; null when the process has gone. */
function statFields(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It ended between being listed and being read.
    return null;
  }
}

function kibOf(text, key) {
  return Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
}

function findByConf(conf) {
  return processIds().find((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return words[0]?.endsWith('slurmd') && words.includes(conf);
    } catch {
      // It ended between being listed and being read.
      return false;
    }
  });
}

function processIds() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}
