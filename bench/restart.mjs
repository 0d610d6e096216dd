// From `kill -9` of a service to the first thing that its new process does, beside other keepers of services.

import { setTimeout as sleep } from 'node:timers/promises';
import { print, printSkipped } from './measure.mjs';
import { readStamp, supervisors } from './supervisors.mjs';

const kills = 10;
/** A service lives this long before it is killed: runit waits a second for one that did not. */
const lifeMs = 1500;
const longestMs = 10_000;

export async function run(bench) {
  for (const count of [1, 50]) {
    let ours = null;
    for (const [name, start] of Object.entries(supervisors)) {
      const supervisor = await start(bench, count);
      const title = `${name}, ${count === 1 ? 'one service' : `one of ${count}`}`;
      if (supervisor === null) {
        printSkipped(title, `${name} is not installed (bench/peers.sh install)`);
        continue;
      }
      const figures = await killAgainAndAgain(supervisor);
      await supervisor.end();
      print(title, figures, { unit: 'ms', ratioTo: ours });
      ours ??= figures;
    }
  }
}

async function killAgainAndAgain({ stamps }) {
  const figures = [];
  for (let turn = 0; turn < kills; turn += 1) {
    await sleep(lifeMs);
    const { pid } = readStamp(stamps, 's1');
    const killedAtMs = wallMs();
    process.kill(pid, 'SIGKILL');
    figures.push((await nextStamp(stamps, pid, killedAtMs)) - killedAtMs);
  }
  return figures;
}

/** When the next process started, by its own clock. It is looked for seldom, so that looking takes nothing from it. */
async function nextStamp(stamps, pid, killedAtMs) {
  while (wallMs() - killedAtMs < longestMs) {
    await sleep(20);
    const stamp = readStamp(stamps, 's1');
    if (stamp.pid !== pid) return stamp.atMs;
  }
  throw new Error(`no new process within ${longestMs / 1000} s`);
}

/** The wall clock, between two of its milliseconds: services stamp by it, and this process's own clock may drift from it. */
function wallMs() {
  const before = Date.now();
  let now = before;
  while (now === before) now = Date.now();
  return now;
}
