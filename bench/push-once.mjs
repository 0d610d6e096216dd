// Submits a job with a workspace and ends: `node push-once.mjs HOME TREE`. No node runs, so the push is all that happens.
// Prints the milliseconds of the submission alone, without the start of Node.

import { builtSdk } from './yard.mjs';

const [home, tree] = process.argv.slice(2);
const { Runyard } = await import(builtSdk);
const yard = await Runyard.open({ home });
const startedMs = performance.now();
await yard.jobs.submit({ job: { name: 'push', run: ['true'], workspace: { workdir: '.' } } }, { baseDirectory: tree });
console.log(performance.now() - startedMs);
await yard.close();
