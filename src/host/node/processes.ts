import { HostError } from '../files.ts';
import type { Launch, Processes, ProcessIdentity, Signal, TreeSearch } from '../processes.ts';
import { createCgroups } from './cgroup.ts';
import { createNodeClock } from './clock.ts';
import { runHelper } from './helper-run.ts';
import { createMarkedScan } from './marked-scan.ts';
import { createPerlLauncher } from './perl-launcher.ts';
import { readProcess } from './proc-stat.ts';
import { launchShim } from './shim.ts';
import { codeOf, toHostError } from './system-error.ts';

export interface NodeProcessesOptions {
  /** The node's own directory, mode 0700; the shim's and the launcher's texts are written into it. */
  readonly directory: string;
  /** `auto` takes the launcher where there is Perl, else the shim; `sh` always takes the shim. */
  readonly launcher?: 'auto' | 'sh';
  /** What runs the shim, with its arguments; `/bin/sh` unless told otherwise. */
  readonly shell?: readonly string[];
}

export interface NodeProcesses extends Processes {
  /** Ends the idle launcher; running work goes on. */
  close(): void;
}

/** The processes of this machine. */
export function createNodeProcesses(options: NodeProcessesOptions): NodeProcesses {
  const bootId = createNodeClock().bootId();
  const cgroups = createCgroups(options.directory);
  const scan = createMarkedScan(bootId);
  const launcher = options.launcher === 'sh' ? null : createPerlLauncher(options.directory, () => cgroups.share());

  const launch = async (order: Launch): Promise<void> => {
    refuseNul(order);
    const { maxProcesses, memoryMiB } = order;
    const hasLimits = maxProcesses !== null || memoryMiB !== null;
    // Making a cgroup costs as much as starting a process, so only limits of its own are worth one.
    const own = hasLimits || launcher === null ? cgroups.create(order.mark, { maxProcesses, memoryMiB }) : [];
    const started = (await launcher?.launch(order, bootId, own)) ?? false;
    // When the launcher died the shim is asked as well: whichever of the two creates the claim runs the command.
    const groups = own.length > 0 ? own : cgroups.share();
    if (!started) await launchShim({ ...options, launch: order, bootId, groups });
  };
  const findMarked = (search: TreeSearch) => scan({ ...search, members: cgroups.members(search.mark) });
  const killTree = async (search: TreeSearch, spare: ProcessIdentity | null): Promise<void> => {
    cgroups.kill(search.mark);
    for (const found of await findMarked(search)) {
      if (found.pid !== spare?.pid) signalProcess(found, bootId, 'SIGKILL');
    }
  };
  const killHelper = async (mark: string, groupId: number): Promise<void> => {
    send(-groupId, 'SIGKILL');
    for (const found of await findMarked({ mark, directory: '/nowhere', leader: null })) {
      signalProcess(found, bootId, 'SIGKILL');
    }
  };

  return {
    launch,
    identify: async (pid) => {
      const found = readProcess(pid);
      return found === null ? null : { pid, startTicks: found.startTicks, bootId };
    },
    isAlive: async (identity, { glance } = { glance: false }) =>
      glance ? identity.bootId === bootId && isTaken(identity.pid) : isSame(identity, bootId),
    findMarked,
    killTree,
    release: (search) => cgroups.release(search.mark),
    signal: async (identity, signal) => signalProcess(identity, bootId, signal),
    signalGroup: async (leader, signal) => isSame(leader, bootId) && send(-leader.pid, signal),
    runHelper: (argv, helperOptions) => runHelper(argv, helperOptions, killHelper),
    close: () => launcher?.close(),
  };
}

/** No program can be given a NUL; in a launch it would shift all that follows it. */
function refuseNul(order: Launch): void {
  const texts = [order.directory, order.workdir, order.nonce, ...order.argv, ...Object.entries(order.env).flat()];
  texts.push(...Object.entries(order.secretEnv ?? {}).flat());
  if (!texts.some((text) => text.includes('\0'))) return;
  throw new HostError('EINVAL', 'an argument or environment value holds a NUL byte', order.directory);
}

function signalProcess(identity: ProcessIdentity, bootId: string, signal: Signal): boolean {
  return isSame(identity, bootId) && send(identity.pid, signal);
}

function isSame(identity: ProcessIdentity, bootId: string): boolean {
  return identity.bootId === bootId && readProcess(identity.pid)?.startTicks === identity.startTicks;
}

function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

function send(pid: number, signal: Signal): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    // EPERM: a process that changed its user is beyond us; whoever waits for its end will see that it stays.
    if (codeOf(error) === 'ESRCH' || codeOf(error) === 'EPERM') return false;
    throw toHostError(error, null);
  }
}
