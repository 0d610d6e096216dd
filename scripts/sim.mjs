// Runs the simulator: many seeds, or one of them again with its trace.
//
//   npm run sim -- --seeds 1000        npm run sim -- --minutes 10        npm run sim -- --seed 42

import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { outputFiles } = await build({
  entryPoints: [`${root}/src/sim/main.ts`],
  bundle: true,
  format: 'esm',
  platform: 'node',
  sourcemap: process.argv.includes('--seed') ? 'inline' : false,
  write: false,
  logLevel: 'error',
});
const code = Buffer.from(outputFiles[0].contents).toString('base64');
const { runSimulator } = await import(`data:text/javascript;base64,${code}`);

process.exitCode = await runSimulator(process.argv.slice(2), {
  // Node runs this once no promise is left that could settle, which is just what the simulator waits for.
  drain: () => new Promise((resolve) => process.nextTick(resolve)),
  print: (line) => console.log(line),
  elapsedMs: () => performance.now(),
});
