// Installs the Debian packages that some tests need: what service examples run, and what makes hosts of the network lab.
// It acts only as root and only for what is absent; without them those tests are skipped, and say so.
// RUNYARD_PACKAGES=0 keeps it from installing anything.
//
//   node scripts/test-packages.mjs

import { spawnSync } from 'node:child_process';

/** By program, the package that brings it. */
const packages = {
  'redis-server': 'redis-server',
  'jupyter-notebook': 'jupyter-notebook',
  ip: 'iproute2',
  nft: 'nftables',
};

const missing = Object.keys(packages).filter((program) => !hasProgram(program));
const why = missing.length > 0 ? whyNot() : null;
if (why !== null) console.log(`tests that need ${missing.join(', ')} are skipped: ${why}`);
else if (missing.length > 0) install(missing.map((program) => packages[program]));

function whyNot() {
  if (process.platform !== 'linux') return 'they are installed by hand here';
  if (process.env.RUNYARD_PACKAGES === '0') return 'RUNYARD_PACKAGES is 0';
  if (process.getuid?.() !== 0) return 'only root can install them';
  return hasProgram('apt-get') ? null : 'there is no apt-get here';
}

/** A machine without the network is no reason to fail: what is not there is not tried. */
function install(names) {
  console.log(`installing ${names.join(', ')} for the tests (a minute, once; RUNYARD_PACKAGES=0 leaves them out)`);
  const quiet = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, encoding: 'utf8' };
  const steps = [
    ['apt-get', 'update', '-q'],
    ['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names],
  ];
  for (const [program, ...words] of steps) {
    const { status, stderr } = spawnSync(program, words, quiet);
    if (status === 0) continue;
    console.log(`tests that need them are skipped: ${program} ${words[0]} ended with ${status}\n${stderr.trim()}`);
    return;
  }
}

function hasProgram(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}
