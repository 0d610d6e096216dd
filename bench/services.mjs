// What it costs to keep fifty services that do nothing: memory, processor time over half a minute, facts appended.

import { setTimeout as sleep } from 'node:timers/promises';
import { print, printSkipped } from './measure.mjs';
import { printProcesses, readProcesses } from './processes.mjs';
import { supervisors } from './supervisors.mjs';
import { countFacts } from './yard.mjs';

const count = 50;
// What a runtime tidies up after it has started is no part of what keeping costs.
const settleMs = 60_000;
const watchMs = 30_000;

export async function run(bench) {
  let ours = null;
  for (const name of ['yard', 'supervisord', 'pm2', 'runit']) {
    const supervisor = await supervisors[name](bench, count);
    if (supervisor === null) {
      printSkipped(`${name}, ${count} services`, `${name} is not installed (bench/peers.sh install)`);
      continue;
    }
    const { agent, before, after, facts } = await watch(supervisor);
    await supervisor.end();
    if (agent !== null) printProcesses('the agent of yard alone', { ...agent, watchMs });
    printProcesses(`${name}, ${count} services`, { before, after, watchMs, ours });
    if (facts !== null) print(`${name}, facts appended in ${watchMs / 1000} s`, [facts], { unit: 'facts', digits: 0 });
    ours ??= after;
  }
}

async function watch({ own, yard, agent }) {
  await sleep(settleMs);
  const look = async () => ({
    facts: yard === undefined ? null : await countFacts(yard),
    agent: agent === undefined ? null : readProcesses([agent]),
    all: readProcesses(own()),
  });
  const before = await look();
  await sleep(watchMs);
  const after = await look();
  return {
    agent: agent === undefined ? null : { before: before.agent, after: after.agent },
    before: before.all,
    after: after.all,
    facts: yard === undefined ? null : after.facts - before.facts,
  };
}
