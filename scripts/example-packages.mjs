// Installs the Debian packages that some service examples run, so that their tests have something to talk to. It acts
// only as root and only for what is absent; without them those tests are skipped, and say so. RUNYARD_PACKAGES=0 keeps
// it from installing anything.
//
//   node scripts/example-packages.mjs

import { spawnSync } from 'node:child_process';

/** Programs, and the packages of the same names. */
const packages = ['redis-server', 'jupyter-notebook'];

const missing = packages.filter((program) => !hasProgram(program));
const why = missing.length > 0 ? whyNot() : null;
if (why !== null) console.log(`examples that need ${missing.join(' and ')} are not tried: ${why}`);
else if (missing.length > 0) install(missing);

function whyNot() {
  if (process.env.RUNYARD_PACKAGES === '0') return 'RUNYARD_PACKAGES is 0';
  if (process.getuid?.() !== 0) return 'only root can install them';
  return hasProgram('apt-get') ? null : 'there is no apt-get here';
}

/** A machine without the network is no reason to fail: what is not there is not tried. */
function install(names) {
  console.log(
    `installing ${names.join(' and ')} for the examples (a minute, once; RUNYARD_PACKAGES=0 leaves them out)`,
  );
  const quiet = { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }, encoding: 'utf8' };
  const steps = [
    ['apt-get', 'update', '-q'],
    ['apt-get', 'install', '-q', '-y', '--no-install-recommends', ...names],
  ];
  for (const [program, ...words] of steps) {
    const { status, stderr } = spawnSync(program, words, quiet);
    if (status === 0) continue;
    console.log(`examples that need them are not tried: ${program} ${words[0]} ended with ${status}\n${stderr.trim()}`);
    return;
  }
}

function hasProgram(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}
