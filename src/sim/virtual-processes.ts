import { HostError } from '../host/files.ts';
import type {
  HelperOptions,
  HelperResult,
  MarkedProcess,
  Processes,
  ProcessIdentity,
  Signal,
  TreeSearch,
} from '../host/processes.ts';
import { portOf } from './command-model.ts';
import type { Incarnation } from './incarnation.ts';
import type { Machine } from './machine.ts';
import type { VirtualProcess } from './process-table.ts';
import { startShim } from './shim-model.ts';
import { attemptOfMark, type Truth } from './truth.ts';

export interface ProcessesOptions {
  readonly incarnation: Incarnation;
  readonly machine: Machine;
  readonly truth: Truth;
  /** The caller's own process, which no search finds. */
  readonly ownPid: number;
  /** Number of facts in the log now. */
  readonly logSeq: () => number;
  readonly latencyMs: () => number;
  /** Whether a shim is killed before its next step. */
  readonly shimDies: () => boolean;
  /** How long the next step of a shim is held up, in milliseconds. */
  readonly stallMs: () => number;
}

/** The processes of a machine, as one incarnation may look at them and signal them. */
export function createVirtualProcesses(options: ProcessesOptions): Processes {
  const { incarnation, machine, truth, latencyMs, shimDies, stallMs } = options;
  const call = <T>(effect: () => T): Promise<T> => incarnation.call(latencyMs(), effect);
  const identified = ({ pid, startTicks }: VirtualProcess): ProcessIdentity => ({
    pid,
    startTicks,
    bootId: machine.bootId(),
  });
  return {
    launch: (launch) =>
      call(() => {
        const { label, mark } = launch;
        truth.launches.push({ attempt: attemptOfMark(mark), label, port: portOf(launch), atMs: machine.world.nowMs });
        startShim({ machine, launch, truth, stepMs: latencyMs, dies: shimDies, stallMs });
      }),
    identify: (pid) =>
      call(() => {
        const process = machine.table.get(pid);
        return process === null ? null : identified(process);
      }),
    isAlive: (identity) => call(() => same(machine, identity) !== null),
    findMarked: (search) =>
      call(() =>
        find(options, search).map(
          (one): MarkedProcess => ({ ...identified(one), inGroup: one.groupId === search.leader?.pid }),
        ),
      ),
    killTree: (search, spare) =>
      call(() => {
        for (const one of find(options, search)) if (one.pid !== spare?.pid) send(options, one, 'SIGKILL');
      }),
    release: () => call(() => ({ outOfMemory: false })),
    signal: (identity, signal) =>
      call(() => {
        const process = same(machine, identity);
        if (process !== null) send(options, process, signal);
        return process !== null;
      }),
    signalGroup: (leader, signal) =>
      call(() => {
        if (same(machine, leader) === null) return false;
        for (const one of machine.table.processes()) if (one.groupId === leader.pid) send(options, one, signal);
        return true;
      }),
    runHelper: async (argv, helper) => {
      const started = await call(() => startHelper(options, argv, helper));
      return incarnation.call(started.lastsMs, started.end);
    },
  };
}

/** Text of the one helper that there is: a probe that asks what the task's port answers. */
export const probeCommand = 'sim-probe';

/** A probe that hangs lives until its time is up, or until the agent ends it; whoever kills the agent leaves it behind. */
function startHelper(
  { machine }: ProcessesOptions,
  argv: readonly string[],
  { env = {}, mark, timeoutMs, signal }: HelperOptions,
): { readonly lastsMs: number; readonly end: () => HelperResult } {
  const text = argv.at(-1) ?? '';
  if (text !== probeCommand) throw new HostError('ENOENT', `there is no program ${argv[0] ?? ''}`, argv[0] ?? '');
  const answer = machine.listening.get(Number(env.PORT))?.answer() ?? 'closed';
  const { table } = machine;
  const process = table.start({ role: 'helper', parent: null, leads: true, mark: mark ?? null, logsIn: null });
  const timedOut = answer === 'hang';
  const onAbort = (): void => table.end(process, 'SIGKILL');
  signal?.addEventListener('abort', onAbort, { once: true });
  return {
    lastsMs: timedOut ? timeoutMs : 5,
    end: () => {
      signal?.removeEventListener('abort', onAbort);
      table.end(process, timedOut ? 'SIGKILL' : null);
      const exitCode = timedOut ? null : answer === 'ok' ? 0 : 1;
      return { exitCode, signal: timedOut ? 'SIGKILL' : null, timedOut, stdout: '', stderr: '' };
    },
  };
}

function same(machine: Machine, { pid, startTicks, bootId }: ProcessIdentity): VirtualProcess | null {
  const process = machine.table.get(pid);
  return bootId === machine.bootId() && process?.startTicks === startTicks ? process : null;
}

/** By the same evidence as the real search: session, group, mark, open logs, descent; never older than the leader. */
function find({ machine, ownPid }: ProcessesOptions, search: TreeSearch): readonly VirtualProcess[] {
  const { leader, mark, directory } = search;
  if (leader !== null && leader.bootId !== machine.bootId()) return [];
  const processes = machine.table.processes();
  const isYoung = (one: VirtualProcess): boolean =>
    one.pid !== ownPid && (leader === null || one.startTicks >= leader.startTicks);
  const holder = leader === null ? null : machine.table.get(leader.pid);
  const isReused = holder !== null && holder.startTicks !== leader?.startTicks;
  const belongs = (one: VirtualProcess): boolean =>
    (leader !== null && !isReused && (one.sessionId === leader.pid || one.groupId === leader.pid)) ||
    one.mark === mark ||
    one.logsIn === directory;
  const found = processes.filter((one) => belongs(one) && isYoung(one));
  for (let grew = found.length > 0; grew; ) {
    const below = processes.filter(
      (one) => !found.includes(one) && found.some(({ pid }) => pid === one.parentPid) && isYoung(one),
    );
    found.push(...below);
    grew = below.length > 0;
  }
  return found;
}

function send(
  { incarnation, machine, truth, logSeq }: ProcessesOptions,
  process: VirtualProcess,
  signal: Signal,
): void {
  const attempt = process.mark === null ? attemptOfLogs(process.logsIn) : attemptOfMark(process.mark);
  const has = (role: VirtualProcess['role']): boolean =>
    machine.table.has((one) => one.role === role && one.mark !== null && attemptOfMark(one.mark) === attempt);
  truth.signals.push({
    atMs: machine.world.nowMs,
    seq: logSeq(),
    by: incarnation.name,
    signal,
    role: process.role,
    pid: process.pid,
    attempt,
    isSweep: !has('command') || !has('shim'),
  });
  machine.table.signal(process, signal);
}

function attemptOfLogs(directory: string | null): string | null {
  return directory === null ? null : (directory.split('/').at(-1) ?? null);
}
