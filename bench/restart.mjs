// From `kill -9` of a service to the first thing that its new process does, beside other keepers of services.

import { setTimeout as sleep } from 'node:timers/promises';
import { interleave, print, printSkipped } from './measure.mjs';
import { readStamp, supervisors } from './supervisors.mjs';

const kills = 10;
/** A service lives this long before it is killed: runit waits a second for one that did not. */
const lifeMs = 1500;
const longestMs = 10_000;

export async function run(bench) {
  for (const count of [1, 50]) {
    const running = await startAll(bench, count);
    const figures = await interleave(
      kills,
      Object.fromEntries(running.map((supervisor) => [supervisor.name, () => killOnce(supervisor)])),
    );
    for (const supervisor of running) await supervisor.end();
    const ours = figures.yard;
    for (const name of Object.keys(supervisors)) {
      const title = titleOf(name, count);
      if (figures[name] === undefined) printSkipped(title, `${name} is not installed (bench/peers.sh install)`);
      else print(title, figures[name], { unit: 'ms', ratioTo: name === 'yard' ? null : ours });
    }
  }
}

/** All of them at once, each with so many services: a noisy moment then meets all of them. */
async function startAll(bench, count) {
  const running = [];
  for (const start of Object.values(supervisors)) {
    const supervisor = await start(bench, count);
    if (supervisor !== null) running.push(supervisor);
  }
  return running;
}

function titleOf(name, count) {
  return `${name}, ${count === 1 ? 'one service' : `one of ${count}`}`;
}

/** Kills a service that has lived for long enough; gives the milliseconds until its next process has stamped. */
async function killOnce({ stamps }) {
  const { pid, atMs } = readStamp(stamps, 's1');
  await sleep(Math.max(0, atMs + lifeMs - Date.now()));
  const killedAtMs = wallMs();
  process.kill(pid, 'SIGKILL');
  return (await nextStamp(stamps, pid, killedAtMs)) - killedAtMs;
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
