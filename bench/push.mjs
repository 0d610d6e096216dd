// The first and the unchanged push of 10,000 files of 4 KiB, beside rsync; each side as a process of its own, start included.
//
// Nothing is removed before the end: on file systems without a journal, creating files soon after many were removed is
// slow for a reason that has nothing to do with either side.

import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { interleave, print, printSkipped, timeMs } from './measure.mjs';
import { startRsyncDaemon, startSshServer } from './peers.mjs';

const rounds = 3;
const folders = 100;
const filesPerFolder = 100;

export async function run(bench) {
  const tree = join(bench.directory, 'tree');
  writeTree(tree);
  const daemon = startRsyncDaemon(bench);
  const ssh = daemon === null ? null : startSshServer(bench);

  const within = [];
  const sides = { ours: (round) => within.push(pushOurs(tree, join(bench.directory, `push-home-${round}`))) };
  if (daemon !== null) sides.daemon = (round) => rsync(tree, `${daemon.url}/daemon-${round}/`);
  if (ssh !== null)
    sides.ssh = (round) => rsync(tree, `127.0.0.1:${join(daemon.target, `ssh-${round}`)}/`, ['-e', ssh.command]);
  const figures = await interleave(rounds, pairUp(sides));

  for (const [which, title] of [
    ['first', 'first push'],
    ['again', 'unchanged push'],
  ]) {
    const ours = figures[`ours ${which}`];
    print(`yard, ${title} of ${folders * filesPerFolder} × 4 KiB`, ours, { unit: 'ms', digits: 0 });
    const alone = within.filter((_, turn) => turn % 2 === (which === 'first' ? 0 : 1));
    print('  of which in a process that runs already', alone, { unit: 'ms', digits: 0 });
    if (daemon === null) printSkipped(`rsync, ${title}`, 'rsync is not installed');
    else print(`rsync to a daemon, ${title}`, figures[`daemon ${which}`], { unit: 'ms', digits: 0, ratioTo: ours });
    if (ssh === null) printSkipped(`rsync over ssh, ${title}`, 'rsync or an ssh server is not installed');
    else print(`rsync over ssh, ${title}`, figures[`ssh ${which}`], { unit: 'ms', digits: 0, ratioTo: ours });
  }
}

/** Every side twice a round: into a fresh place, then again with nothing changed. */
function pairUp(sides) {
  return Object.fromEntries(
    Object.entries(sides).flatMap(([name, push]) => [
      [`${name} first`, (round) => timeMs(() => push(round))],
      [`${name} again`, (round) => timeMs(() => push(round))],
    ]),
  );
}

/** Half of each file is random, so that neither side gets far by compressing. */
function writeTree(tree) {
  for (let folder = 0; folder < folders; folder += 1) {
    const directory = join(tree, `d${folder}`);
    mkdirSync(directory, { recursive: true });
    for (let file = 0; file < filesPerFolder; file += 1) {
      writeFileSync(join(directory, `f${file}`), Buffer.concat([randomBytes(2048), Buffer.alloc(2048, 'text ')]));
    }
  }
}

/** Returns the milliseconds without the start of Node. */
function pushOurs(tree, home) {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const said = runOrThrow(process.execPath, [fileURLToPath(new URL('push-once.mjs', import.meta.url)), home, tree]);
  return Number(said);
}

function rsync(tree, target, options = []) {
  runOrThrow('rsync', ['-a', ...options, `${tree}/`, target]);
}

function runOrThrow(program, programArguments) {
  const { status, stdout, stderr } = spawnSync(program, programArguments, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`);
  return stdout;
}
