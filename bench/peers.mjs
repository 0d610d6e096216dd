// The peers that are installed here, started and stopped through peers.sh.

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const script = fileURLToPath(new URL('peers.sh', import.meta.url));

export function hasProgram(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** Slurm on loopback, with 64 declared cores and a scheduler that does not wait; null where it is not installed. */
export function startSlurm(bench) {
  const needed = ['slurmctld', 'slurmd', 'munged', 'sbatch', 'srun'];
  if (process.getuid?.() !== 0 || !needed.every(hasProgram)) return null;
  const directory = start(bench, 'slurm');
  return {
    env: { ...process.env, SLURM_CONF: join(directory, 'slurm.conf') },
    completions: join(directory, 'completions.txt'),
  };
}

/** An rsync daemon whose module `d` is the directory given back; null where it is not installed. */
export function startRsyncDaemon(bench) {
  if (!hasProgram('rsync')) return null;
  const directory = start(bench, 'rsync');
  return { target: join(directory, 'target'), url: 'rsync://127.0.0.1:18730/d' };
}

/** A server for ssh with a key of its own; null where it is not installed. */
export function startSshServer(bench) {
  if (!hasProgram('ssh') || !hasProgram('/usr/sbin/sshd')) return null;
  const directory = start(bench, 'ssh');
  const options = [
    'StrictHostKeyChecking=no',
    `UserKnownHostsFile=${directory}/known`,
    'LogLevel=ERROR',
    'BatchMode=yes',
  ];
  return { command: `ssh -p 12222 -i ${directory}/key ${options.map((option) => `-o ${option}`).join(' ')}` };
}

/** Whether a keeper of services is installed. */
export function hasPeer(peer) {
  return spawnSync('bash', [script, 'has', peer]).status === 0;
}

/** A keeper of services with `count` of them; `pid()` is its own process. */
export function startPeer(bench, peer, count) {
  const directory = start(bench, peer, { count, folder: `${peer}-${count}-${process.hrtime.bigint()}` });
  const pid = () => Number(readFileSync(join(directory, `${peer}.pid`), 'utf8'));
  return { directory, pid, stop: () => stop(peer, directory) };
}

/** Returns the directory where the peer lives. */
function start(bench, peer, { folder = peer, count = null } = {}) {
  const directory = join(bench.directory, `peer-${folder}`);
  mkdirSync(directory, { recursive: true });
  // A daemon goes on holding its output; nothing of it is read, so that nobody waits for the pipe to close.
  const words = ['start', peer, directory, ...(count === null ? [] : [String(count)])];
  const started = spawnSync('bash', [script, ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  bench.atEnd(() => stop(peer, directory));
  if (started.status !== 0) throw new Error(`${peer} did not start; bench/peers.sh said why above`);
  return directory;
}

function stop(peer, directory) {
  spawnSync('bash', [script, 'stop', peer, directory], { stdio: ['ignore', 'ignore', 'inherit'] });
}
