// Submits a job with a workspace and ends: `node push-once.mjs HOME TREE`. No node runs, so the push is all that happens.

import { builtSdk } from './yard.mjs';

const [home, tree] = process.argv.slice(2);
const { Runyard } = await import(builtSdk);
const yard = await Runyard.open({ home });
await yard.jobs.submit({ job: { name: 'push', run: ['true'], workspace: { workdir: '.' } } }, { baseDirectory: tree });
await yard.close();
