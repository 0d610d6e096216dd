import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { MarkedProcess, ProcessIdentity } from '../host/processes.ts';

export interface StopOptions {
  readonly host: Host;
  readonly mark: string;
  readonly directory: string;
  /** The shim, which leads the group; null when its claim could not be read. */
  readonly shim: ProcessIdentity | null;
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
  /** Aborted when the grace is to end at once. */
  readonly hurry?: AbortSignal;
}

/** `unkillable`: something still lives a minute after SIGKILL; its devices and ports must stay taken. */
export type StopResult = 'gone' | 'unkillable';

const killMs = 60_000;

/** How long a shim may be alone before it is killed: it only has to start its command, or to write a record. */
const shimAloneMs = 2000;

const shortestPauseMs = 5;
const longestPauseMs = 100;

/**
 * Ends the whole tree of an attempt: SIGTERM (and SIGCONT, for what is stopped) once to every process, then the grace,
 * then SIGKILL again and again until two looks in a row find nothing. Also sweeps what a command left behind when it
 * ended by itself. The shim is spared as long as it can still record how the command ended.
 */
export async function stopTree(options: StopOptions): Promise<StopResult> {
  const { host } = options;
  const graceEndsMs = host.clock.bootMs() + options.graceMs;
  let stage: { kind: 'new' | 'warned' } | { kind: 'killing'; sinceMs: number } = { kind: 'new' };
  let aloneSinceMs: number | null = null;
  let emptyLooks = 0;
  for (let pauseMs = shortestPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
    const { shimIsAlive, others } = await look(options);
    const nowMs = host.clock.bootMs();
    emptyLooks = shimIsAlive || others.length > 0 ? 0 : emptyLooks + 1;
    if (emptyLooks === 2) return 'gone';
    if (emptyLooks === 1) continue;

    aloneSinceMs = others.length > 0 ? null : (aloneSinceMs ?? nowMs);
    const shimIsOverdue = aloneSinceMs !== null && nowMs - aloneSinceMs >= shimAloneMs;
    const graceIsOver = nowMs >= graceEndsMs || options.hurry?.aborted === true;
    if (others.length > 0 && stage.kind === 'new') {
      await warn(options, others);
      stage = { kind: 'warned' };
    } else if ((others.length > 0 && graceIsOver) || shimIsOverdue) {
      if (stage.kind !== 'killing') {
        stage = { kind: 'killing', sinceMs: nowMs };
        pauseMs = shortestPauseMs;
      }
      if (nowMs - stage.sinceMs >= killMs) return 'unkillable';
      await host.processes.killTree(toSearch(options), shimIsOverdue ? null : options.shim);
    }
    await sleep(host.timers, pauseMs, stage.kind === 'killing' ? undefined : options.hurry);
  }
}

async function look(options: StopOptions): Promise<{ shimIsAlive: boolean; others: readonly MarkedProcess[] }> {
  const { host, shim } = options;
  const found = await host.processes.findMarked(toSearch(options));
  const others = found.filter((one) => one.pid !== shim?.pid);
  return { shimIsAlive: others.length < found.length, others };
}

/** One signal for the group, as a fork may slip between two single ones, and one for each process outside of it. */
async function warn(options: StopOptions, others: readonly MarkedProcess[]): Promise<void> {
  const { processes } = options.host;
  const groupIsDone = options.shim !== null && (await processes.signalGroup(options.shim, 'SIGTERM'));
  const outside = others.filter((one) => !groupIsDone || !one.inGroup);
  if (groupIsDone) outside.push(...(await findLeavers(options, others)));
  for (const process of outside) await processes.signal(process, 'SIGTERM');
  for (const process of others) await processes.signal(process, 'SIGCONT');
}

/**
 * Those that left the group, or were born and left it, between the look and the signal, so that it missed them. What
 * the command starts in its own group to end well (to save its work, say) is left in peace.
 */
async function findLeavers(options: StopOptions, before: readonly MarkedProcess[]): Promise<MarkedProcess[]> {
  const known = new Set(before.filter((one) => !one.inGroup).map((one) => one.pid));
  const { others } = await look(options);
  return others.filter((one) => !one.inGroup && !known.has(one.pid));
}

function toSearch({ mark, directory, shim }: StopOptions): { mark: string; directory: string; leader: typeof shim } {
  return { mark, directory, leader: shim };
}
