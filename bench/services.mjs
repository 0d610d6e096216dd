// What it costs to keep fifty services that do nothing: memory, processor time over half a minute, facts appended.

import { setTimeout as sleep } from 'node:timers/promises';
import { print, printSkipped } from './measure.mjs';
import { printProcesses, readProcesses } from './processes.mjs';
import { supervisors } from './supervisors.mjs';
import { countFacts } from './yard.mjs';

const count = 50;
const settleMs = 10_000;
const watchMs = 30_000;

export async function run(bench) {
  let ours = null;
  for (const name of ['yard', 'supervisord', 'pm2', 'runit']) {
    const supervisor = await supervisors[name](bench, count);
    if (supervisor === null) {
      printSkipped(`${name}, ${count} services`, `${name} is not installed (bench/peers.sh install)`);
      continue;
    }
    const { before, after, facts } = await watch(supervisor);
    await supervisor.end();
    printProcesses(`${name}, ${count} services`, { before, after, watchMs, ours });
    if (facts !== null) print(`${name}, facts appended in ${watchMs / 1000} s`, [facts], { unit: 'facts', digits: 0 });
    ours ??= after;
  }
}

async function watch({ own, yard }) {
  await sleep(settleMs);
  const count = async () => (yard === undefined ? null : countFacts(yard));
  const factsBefore = await count();
  const before = readProcesses(own());
  await sleep(watchMs);
  const after = readProcesses(own());
  const facts = await count();
  return { before, after, facts: facts === null ? null : facts - factsBefore };
}
