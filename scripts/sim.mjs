// Runs the simulator: many seeds, or one of them again with its trace.
//
//   npm run sim -- --seeds 1000        npm run sim -- --minutes 10        npm run sim -- --seed 42

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { runSimulator } = await loadSimulator();

process.exitCode = await runSimulator(process.argv.slice(2), {
  // Node runs this once no promise is left that could settle, which is just what the simulator waits for.
  drain: () => new Promise((resolve) => process.nextTick(resolve)),
  print: (line) => console.log(line),
  elapsedMs: () => performance.now(),
});

/** Node 20 reads no TypeScript, so it is bundled first. */
async function loadSimulator() {
  const scratch = mkdtempSync(join(tmpdir(), 'runyard-sim-'));
  try {
    const outfile = join(scratch, 'sim.mjs');
    const entryPoints = [join(root, 'src/sim/main.ts')];
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' });
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}
