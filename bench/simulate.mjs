// How long `yard simulate` takes for a week of 100,000 jobs on 1,000 nodes with eight GPUs each, and what memory it needs.

import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { print } from './measure.mjs';
import { builtCli } from './yard.mjs';

const week = `
start = "2026-12-07T00:00:00Z"

[[nodes]]
name = "h100-%d"
count = 1000
gpus = 8
gpuType = "H100"
gpuMemory = "80GiB"
cpus = 192
memory = "2TiB"

[[jobs]]
name = "notebook"
count = 60_000
every = { mean = "10s", max = "2m" }
runs = { min = "5m", mean = "3h", max = "1d" }
profile = { resources = { gpus = 1, cpus = 8, memory = "64GiB" } }

[[jobs]]
name = "finetune"
count = 25_000
every = { mean = "24s", max = "5m" }
runs = { min = "10m", mean = "5h", max = "1d" }
exit = { share = 0.05, code = 75 }
profile = { resources = { gpus = 4, cpus = 32, memory = "256GiB" }, retry = { maxAttempts = 3, onExit = [75] } }

[[jobs]]
name = "train"
count = 12_000
every = { mean = "50s", max = "10m" }
runs = { min = "10m", mean = "4h30m", max = "2d" }
profile = { resources = { gpus = 8, cpus = 96, memory = "1TiB" } }

[[jobs]]
name = "pretrain"
count = 1000
every = { mean = "10m", max = "1h" }
runs = { min = "30m", mean = "5h", max = "1d" }
profile = { nodes = 4, priority = 10, resources = { gpus = "all" } }

[[jobs]]
name = "prepare"
count = 2000
every = { mean = "5m", max = "1h" }
runs = { mean = "30m", max = "4h" }
profile = { resources = { cpus = 16, memory = "32GiB" } }
`;

export async function run(bench) {
  const file = join(bench.directory, 'week.toml');
  writeFileSync(file, week);
  const { report, seconds, cpuSeconds, memoryMiB } = await simulateWeek(file, join(bench.directory, 'home'));
  const third = memoryMiB[Math.floor(memoryMiB.length / 3)] ?? Number.NaN;
  print(`a week of ${report.jobs} jobs on ${report.nodes} nodes`, [seconds], { unit: 's' });
  print('of one core', [cpuSeconds], { unit: 's' });
  print('jobs a second of one core', [report.jobs / cpuSeconds], { unit: 'jobs/s', digits: 0 });
  print('memory after a third of it', [third], { unit: 'MiB', digits: 0 });
  print('memory at most', [Math.max(...memoryMiB)], { unit: 'MiB', digits: 0 });
  const { gpus } = report.utilisation;
  console.log(`  GPUs were ${Math.round(gpus.mean * 100)} % full on average, ${report.ended} jobs ended`);
}

function simulateWeek(file, home) {
  return new Promise((resolve, reject) => {
    const startedMs = performance.now();
    const yard = spawn(process.execPath, [builtCli, '--home', home, 'simulate', file, '--json'], { stdio: 'pipe' });
    const memoryMiB = [];
    let cpuSeconds = 0;
    const look = setInterval(() => {
      const now = statusOf(yard.pid);
      if (now === null) return;
      memoryMiB.push(now.residentMiB);
      cpuSeconds = now.cpuSeconds;
    }, 100);
    let [said, complained] = ['', ''];
    yard.stdout.on('data', (bytes) => (said += bytes));
    yard.stderr.on('data', (bytes) => (complained += bytes));
    yard.once('error', reject);
    yard.once('close', (code) => {
      clearInterval(look);
      if (code !== 0) {
        reject(new Error(`yard simulate ended with ${code}: ${complained}`));
        return;
      }
      const seconds = (performance.now() - startedMs) / 1000;
      resolve({ report: JSON.parse(said), seconds, cpuSeconds, memoryMiB });
    });
  });
}

/** Null once it has ended. */
function statusOf(pid) {
  try {
    const memory = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    if (memory === undefined) return null;
    // Ticks of a hundredth of a second, in user and in system mode.
    return { residentMiB: Number(memory) / 1024, cpuSeconds: (Number(fields[11]) + Number(fields[12])) / 100 };
  } catch {
    return null;
  }
}
