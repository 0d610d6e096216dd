// Runyard and its peers as keepers of services, behind one face: `start(bench, count)` gives `{ stamps, own, end }` with
// `count` services up, or null where the peer is absent. Each service is stamp.sh; its stamp is the file `sN` in `stamps`.

import { chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { hasPeer, startPeer } from './peers.mjs';
import { processIds, readProc, withDescendants } from './processes.mjs';
import { openHome, startNode } from './yard.mjs';

const stampScript = fileURLToPath(new URL('stamp.sh', import.meta.url));

/** Longest wait for all services of a supervisor to be up. */
const startMs = 60_000;

/** In the order of their lines. `own` of a supervisor: pids of its own processes, services left out. */
export const supervisors = {
  yard: startYard,
  runit: (bench, count) => startOther(bench, 'runit', count),
  supervisord: (bench, count) => startOther(bench, 'supervisord', count),
  s6: (bench, count) => startOther(bench, 's6', count),
  pm2: (bench, count) => startOther(bench, 'pm2', count),
};

/** Start time in milliseconds of the wall clock, and pid, of a service. */
export function readStamp(stamps, name) {
  const [nanoseconds, pid] = readFileSync(join(stamps, name), 'utf8').trim().split('\n');
  return { atMs: Number(nanoseconds) / 1e6, pid: Number(pid) };
}

export function namesOf(count) {
  return Array.from({ length: count }, (_, index) => `s${index + 1}`);
}

let homes = 0;

async function startYard(bench, count) {
  homes += 1;
  const { home, yard } = await openHome(bench, `services-${homes}`);
  const agent = await startNode(bench, { home, yard, cpus: count });
  const stamps = makeFolder(join(bench.directory, `stamps-yard-${homes}`));
  for (const name of namesOf(count)) {
    await yard.services.apply({
      service: { name, run: [stampScript, stamps, name] },
      profile: { replicas: 1, port: false, restart: { backoff: { initial: '0s' } }, rollout: { minReady: '0s' } },
    });
  }
  await waitForStamps(stamps, count);
  const end = async () => {
    for (const name of namesOf(count)) await (await yard.services.get(name)).remove();
    await waitFor(() => livePids(stamps, count).length === 0, 'the end of the services');
  };
  const own = () => [...new Set([...withDescendants(agent.pid), ...markedPids(home)])].filter((pid) => !isService(pid));
  return { name: 'yard', yard, agent: agent.pid, stamps, end, own };
}

/** What starts and watches services for an agent may have outlived the agent that started it. */
function markedPids(home) {
  return processIds().filter((pid) => readProc(pid, 'cmdline').includes(`${home}/nodes/`));
}

async function startOther(bench, peer, count) {
  if (!hasPeer(peer)) return null;
  const { directory, stop, pid } = startPeer(bench, peer, count);
  const stamps = join(directory, 'stamps');
  await waitForStamps(stamps, count);
  const services = () => new Set(livePids(stamps, count));
  const end = async () => {
    const pids = [...services()];
    stop();
    await sleep(500);
    for (const left of pids.filter(isService)) process.kill(left, 'SIGKILL');
  };
  return { name: peer, stamps, end, own: () => withDescendants(pid()).filter((one) => !services().has(one)) };
}

function makeFolder(path) {
  mkdirSync(path);
  chmodSync(path, 0o755);
  return path;
}

function waitForStamps(stamps, count) {
  return waitFor(() => livePids(stamps, count).length === count, `${count} services`);
}

/** Services that have stamped and live. */
function livePids(stamps, count) {
  return namesOf(count).flatMap((name) => {
    try {
      const { pid } = readStamp(stamps, name);
      return isService(pid) ? [pid] : [];
    } catch {
      // It has not stamped yet.
      return [];
    }
  });
}

function isService(pid) {
  return readProc(pid, 'cmdline') === 'sleep\x001000000\0';
}

async function waitFor(condition, what) {
  const endMs = performance.now() + startMs;
  while (!condition()) {
    if (performance.now() > endMs) throw new Error(`${what}: not within ${startMs / 1000} s`);
    await sleep(50);
  }
}
