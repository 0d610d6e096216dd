// Measures Runyard beside its peers, in one run on one machine: absolute figures of two machines do not compare, ratios do.
//
//   npm run build && bash bench/peers.sh install     (Debian, as root; a peer that is absent is skipped, and said so)
//   node bench/run.mjs [NAME…]        all of them unless named: start latency jobs push idle restart services agents
//
// Everything lives in one temporary directory, and what was started is ended by its pid.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { builtCli, builtSdk } from './yard.mjs';

const benches = {
  start: () => import('./start.mjs'),
  latency: () => import('./latency.mjs'),
  jobs: () => import('./jobs.mjs'),
  push: () => import('./push.mjs'),
  idle: () => import('./idle.mjs'),
  restart: () => import('./restart.mjs'),
  services: () => import('./services.mjs'),
  simulate: () => import('./simulate.mjs'),
  agents: () => import('./agents.mjs'),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(benches, name));
if (unknown.length > 0) {
  console.error(`error: no bench is called ${unknown.join(', ')}; there are: ${Object.keys(benches).join(', ')}`);
  process.exit(2);
}
if (!existsSync(builtCli) || !existsSync(builtSdk)) {
  console.error('error: nothing is built yet\n  npm run build');
  process.exit(2);
}
process.exitCode = await runAll(asked.length > 0 ? asked : Object.keys(benches));

async function runAll(names) {
  const directory = mkdtempSync(join(tmpdir(), 'runyard-bench-'));
  const undo = [];
  const bench = { directory, atEnd: (action) => undo.push(action) };
  const interrupted = () => void endAll(undo, directory).then(() => process.exit(130));
  process.once('SIGINT', interrupted);
  process.once('SIGTERM', interrupted);
  console.log(`${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)} before the start`);
  let failures = 0;
  try {
    for (const name of names) {
      console.log(`\n${name}`);
      try {
        const { run } = await benches[name]();
        await run(bench);
      } catch (error) {
        failures += 1;
        console.log(`  failed: ${error.stack ?? error}`);
      } finally {
        await endStarted(undo);
      }
    }
  } finally {
    await endAll(undo, directory);
  }
  return failures === 0 ? 0 : 1;
}

/** Ends what a bench started, last first. */
async function endStarted(undo) {
  for (let action = undo.pop(); action !== undefined; action = undo.pop()) await action();
}

async function endAll(undo, directory) {
  await endStarted(undo);
  rmSync(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}
