// How long `yard --help` takes from its start to its end, beside Node doing nothing.

import { spawnSync } from 'node:child_process';
import { interleave, print, timeMs } from './measure.mjs';
import { builtCli } from './yard.mjs';

const rounds = 20;

export async function run() {
  run0('--help');
  const figures = await interleave(rounds, {
    help: () => timeMs(() => run0('--help')),
    version: () => timeMs(() => run0('--version')),
    node: () => timeMs(() => spawnSync(process.execPath, ['-e', '0'])),
  });
  print('yard --help', figures.help, { unit: 'ms' });
  print('yard --version', figures.version, { unit: 'ms' });
  print('node -e 0', figures.node, { unit: 'ms', ratioTo: figures.help });
}

function run0(option) {
  const { status, stderr } = spawnSync(process.execPath, [builtCli, option], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`yard ${option} ended with ${status}: ${stderr}`);
}
