import { stat, statfs } from 'node:fs/promises';
import { findDevices } from '../../agent/devices.ts';
import { describeBytes } from '../../core/units.ts';
import { createNodeFiles } from '../../host/node/files.ts';
import { createNodeMachine } from '../../host/node/machine.ts';
import type { Context } from '../context.ts';
import { processesOf } from '../daemon/daemon-record.ts';
import { reportOf } from '../report-error.ts';
import { describeGpuMemory } from '../views/size.ts';

/** One thing that was looked at. `note`: worth knowing, and no fault. */
export interface Finding {
  readonly what: string;
  readonly state: 'good' | 'bad' | 'note';
  readonly found: string;
  readonly todo: string | null;
}

const leastFreeBytes = 512 * 1024 * 1024;
const oldestClockMs = Date.UTC(2024, 0, 1);

/** What the machine brings. */
export async function checkMachine(context: Context): Promise<readonly Finding[]> {
  return [
    checkNodeVersion(),
    checkClock(),
    await checkSqlite(),
    ...(await checkPrograms(context)),
    await checkGpus(context),
  ];
}

/** What the home is like, and who serves it. */
export async function checkHome(context: Context): Promise<readonly Finding[]> {
  const { home } = context;
  const found = await stat(home).catch(() => null);
  if (found === null) return [note('home', `${home} is not there yet`, 'the first command makes it')];
  const mode = found.mode & 0o777;
  const mine = process.getuid === undefined || found.uid === process.getuid();
  const findings: Finding[] = [
    (mode & 0o077) === 0
      ? good('home', `${home}, mode 0${mode.toString(8)}`)
      : bad('home', `${home} has mode 0${mode.toString(8)}`, `chmod 700 ${home}`),
    mine ? good('owner', 'you') : bad('owner', `user ${found.uid}`, `chown -R it, or name another one with --home`),
    await checkFileSystem(home),
    await checkRoom(home),
  ];
  if (findings.some(({ state }) => state === 'bad')) return findings;
  const log = await checkLog(context);
  return [...findings, log, ...(log.state === 'bad' ? [] : [await checkAgent(context)])];
}

function checkNodeVersion(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const fits = major > 20 || (major === 20 && minor >= 19);
  return fits ? good('node', process.versions.node) : bad('node', process.versions.node, 'install Node 20.19 or newer');
}

function checkClock(): Finding {
  const now = new Date();
  return now.getTime() > oldestClockMs
    ? good('clock', now.toISOString())
    : bad('clock', now.toISOString(), 'set the date of this machine');
}

async function checkSqlite(): Promise<Finding> {
  const { DatabaseSync } = await import('@photostructure/sqlite');
  const database = new DatabaseSync(':memory:');
  const row = database.prepare('SELECT sqlite_version() AS version').get();
  database.close();
  const version = String((row as { version?: unknown } | undefined)?.version);
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number);
  const fits = major > 3 || (major === 3 && (minor > 51 || (minor === 51 && patch >= 3)));
  return fits ? good('sqlite', version) : bad('sqlite', version, 'npm ci brings a newer one');
}

async function checkPrograms(context: Context): Promise<readonly Finding[]> {
  const processes = processesOf(context.home);
  const env = { PATH: createNodeMachine().path() };
  const look = async (name: string, todo: string): Promise<Finding> => {
    const where = await processes.runHelper(['sh', '-c', 'command -v "$1"', 'sh', name], { timeoutMs: 5000, env });
    return where.exitCode === 0 ? good(name, where.stdout.trim()) : note(name, 'not on PATH', todo);
  };
  const found = [
    await look('bash', 'run and setup go to sh -e, without pipefail'),
    await look('python3', 'only needed by jobs that use it'),
    await look('perl', 'jobs start somewhat slower without it'),
  ];
  processes.close();
  return found;
}

async function checkGpus(context: Context): Promise<Finding> {
  const processes = processesOf(context.home);
  const { gpus, problem } = await findDevices(processes, createNodeMachine().path());
  processes.close();
  if (problem !== null) return bad('gpus', problem, 'nvidia-smi has to work before jobs can have GPUs');
  const names = gpus.map(({ index, model, memoryMiB }) => `${index}: ${model} ${describeGpuMemory(memoryMiB)}`);
  return good('gpus', names.length === 0 ? 'none' : names.join(', '));
}

/** Magic numbers of network file systems, where locks do not hold: NFS, SMB, SMB2, CIFS, AFS, FUSE's sshfs, 9p, Ceph. */
const networkTypes: ReadonlySet<number> = new Set([
  0x6969, 0x517b, 0xfe534d42, 0xff534d42, 0x5346414f, 0x01021997, 0x00c36400,
]);

async function checkFileSystem(home: string): Promise<Finding> {
  const { type } = await statfs(home);
  return networkTypes.has(type)
    ? bad('file system', `a network mount (0x${type.toString(16)})`, 'move the home to a local disk with --home')
    : good('file system', 'local');
}

async function checkRoom(home: string): Promise<Finding> {
  const freeBytes = await createNodeFiles().freeBytes(home);
  return freeBytes >= leastFreeBytes
    ? good('disk', `${describeBytes(freeBytes)} free`)
    : bad('disk', `${describeBytes(freeBytes)} free`, 'make room: yard prune');
}

/** Opening it folds every fact that the state comes from: what is damaged shows. */
async function checkLog(context: Context): Promise<Finding> {
  try {
    await context.client();
    return good('log', 'readable');
  } catch (error) {
    const { message } = reportOf(error, context.home);
    return bad('log', message, `without a backup: move ${context.home} away, and submit what it held again`);
  }
}

async function checkAgent(context: Context): Promise<Finding> {
  const nodes = await (await context.client()).nodes.list();
  const running = nodes.filter((node) => node.agentRunning).map((node) => node.id);
  return running.length > 0
    ? good('agent', `${running.join(', ')} running`)
    : note('agent', 'none is running', 'yard up starts one; yard run brings its own');
}

function good(what: string, found: string): Finding {
  return { what, state: 'good', found, todo: null };
}

function bad(what: string, found: string, todo: string): Finding {
  return { what, state: 'bad', found, todo };
}

function note(what: string, found: string, todo: string): Finding {
  return { what, state: 'note', found, todo };
}
