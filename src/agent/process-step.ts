import type { Script } from '../core/job/spec.ts';
import { sleep } from '../host/clock.ts';
import { HostError } from '../host/files.ts';
import { adoptProcess } from './adopt.ts';
import { countBeginning } from './attempt.ts';
import type { Command } from './command.ts';
import type { End } from './exit-watch.ts';
import { keepLogs, usualLimits } from './log-keeper.ts';
import { type Label, readRecords } from './records.ts';
import { openSecrets } from './secrets/open-secrets.ts';
import { startProcess } from './start.ts';
import type { TaskContext } from './task-context.ts';

/** How a command of an attempt ended, its whole tree with it. */
export type ProcessEnd =
  | {
      readonly kind: 'ended';
      readonly exitCode: number | null;
      readonly signal: number | null;
      readonly detail: string | null;
    }
  | { readonly kind: 'timed-out'; readonly timeoutMs: number }
  | { readonly kind: 'fault'; readonly message: string; readonly held: boolean };

/** An end that nothing follows: devices and ports stay taken. */
export const unkillable: Extract<ProcessEnd, { kind: 'fault' }> = {
  kind: 'fault',
  message: 'unkillable: a process of it is still alive 60 s after SIGKILL',
  held: true,
};

export const sweepGraceMs = 2000;

/**
 * Starts a command, or adopts the one that an earlier agent started, and follows it to its end: what it left behind is
 * gone too when this returns. Null when another step was ordered meanwhile; the process then runs on untouched.
 * `onStarted` is given the nonce of the start; empty where its record is gone.
 */
export async function runProcess(
  context: TaskContext,
  label: Label,
  env: Readonly<Record<string, string>>,
  onStarted: (nonce: string) => void,
): Promise<ProcessEnd | null> {
  for (;;) {
    const started = await startOrAdopt(context, label, env);
    if (started === null) return null;
    if (started.kind === 'fault') return started;
    if (started.kind === 'ended') return settle(context, started);
    onStarted(started.nonce);
    const endKeeping = keepLongLogs(context, label);
    const end = await Promise.race([
      context.exitWatch.wait({ directory: context.attempt.directory, label, nonce: started.nonce }),
      timeOut(context, label),
      whenAborted(context.signal),
    ]);
    await endKeeping();
    if (end === null) return null;
    if (end.kind === 'timed-out') {
      // Collecting stops it once more, and says so when that fails.
      context.stop(context.order.task.settings.graceMs).catch(() => {});
      return end;
    }
    if (end.kind === 'start-again') continue;
    return settle(context, end);
  }
}

/** A command that ends at once needs no time index and no rotation. */
const keepAfterMs = 200;

/** Keeps the logs of a command that runs on; the function it returns takes the last look. */
function keepLongLogs(context: TaskContext, label: Label): () => Promise<void> {
  const { host } = context;
  let end: (() => Promise<void>) | null = null;
  const cancel = host.timers.after(keepAfterMs, () => {
    const ended = new AbortController();
    const keeping = keepUntil(context, label, ended.signal);
    end = () => {
      ended.abort('ended');
      return keeping;
    };
  });
  return async () => {
    cancel();
    await end?.();
  };
}

async function keepUntil(context: TaskContext, label: Label, signal: AbortSignal): Promise<void> {
  const { host, quietLogs, attempt } = context;
  const { directory } = attempt;
  while (!signal.aborted) {
    try {
      await keepLogs({ host, quietLogs, directory, label, limits: usualLimits, signal });
      return;
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      // The command's own output is on its disk either way; only the index and the rotation wait for room.
      await sleep(host.timers, 5000, signal);
    }
  }
}

type Started = { readonly kind: 'started'; readonly nonce: string } | Extract<End, { kind: 'ended' }>;

async function startOrAdopt(
  context: TaskContext,
  label: Label,
  env: Readonly<Record<string, string>>,
): Promise<Started | Extract<ProcessEnd, { kind: 'fault' }> | null> {
  const { host, attempt } = context;
  if (context.isFresh) return start(context, label, env);
  const adoption = await adoptProcess({ host, directory: attempt.directory, label });
  switch (adoption.kind) {
    case 'ended':
      return adoption;
    case 'lost':
      return { kind: 'fault', ...(await endTree(context, adoption.message)) };
    case 'rebooted':
      return { kind: 'fault', message: 'the host rebooted while it ran', held: false };
    case 'running': {
      const { start } = await readRecords({ files: host.files, directory: attempt.directory, label });
      return { kind: 'started', nonce: start?.nonce ?? '' };
    }
    case 'never-decided':
    case 'start-again':
      return start(context, label, env);
  }
}

async function start(
  context: TaskContext,
  label: Label,
  env: Readonly<Record<string, string>>,
): Promise<Started | Extract<ProcessEnd, { kind: 'fault' }> | null> {
  const { host, attempt, order, diskGuard, signal } = context;
  const { spec, memoryMiB } = order.task;
  const script = label === 'setup' ? spec.setup : spec.run;
  for (;;) {
    await diskGuard.waitForRoom(signal);
    if (signal.aborted) return null;
    try {
      if (!context.isFresh && !(await countBeginning(host.files, attempt, label))) {
        return { kind: 'fault', message: `starting ${label} ended the agent again and again`, held: false };
      }
      const secrets = await openSecrets(context);
      if (secrets.kind === 'closed') return { kind: 'fault', message: secrets.message, held: false };
      await context.startJournal.record(attempt.name);
      const started = await startProcess({
        host,
        directory: attempt.directory,
        label,
        command: commandOf(script ?? '', label === 'run' ? spec.args : []),
        env,
        secretEnv: secrets.env,
        workdir: attempt.workdir,
        mark: attempt.mark,
        maxProcesses: null,
        memoryMiB: memoryMiB > 0 ? memoryMiB : null,
        bell: context.bell,
        signal,
      });
      return started === null ? null : { kind: 'started', nonce: started.nonce };
    } catch (error) {
      if (!(error instanceof HostError)) throw error;
      if (error.code !== 'ENOSPC')
        return { kind: 'fault', message: `${label} could not be started: ${error.message}`, held: false };
      await diskGuard.giveUpBallast();
      await sleep(host.timers, 1000, signal);
    }
  }
}

function commandOf(script: Script, args: readonly string[]): Command {
  if (typeof script === 'string') return { kind: 'script', text: script, arguments: args };
  return { kind: 'argv', argv: [...script, ...args] };
}

/** After the command itself has ended: ends what it left behind, and says how it was. */
async function settle(context: TaskContext, end: End): Promise<ProcessEnd> {
  switch (end.kind) {
    case 'ended': {
      const isAlone = end.exit.kind !== 'fault' && end.exit.alone;
      if (!isAlone && (await context.stop(sweepGraceMs)) === 'unkillable') return unkillable;
      const search = { mark: context.attempt.mark, directory: context.attempt.directory, leader: null };
      const verdict = await context.host.processes.release(search);
      const { exit } = end;
      if (exit.kind === 'fault') return { kind: 'fault', message: exit.message, held: false };
      const detail = verdict.outOfMemory ? `out of memory (limit ${context.order.task.memoryMiB} MiB)` : null;
      return exit.kind === 'killed'
        ? { kind: 'ended', exitCode: null, signal: exit.signal, detail }
        : { kind: 'ended', exitCode: exit.exitCode, signal: null, detail };
    }
    case 'lost':
      return { kind: 'fault', ...(await endTree(context, end.message)) };
    case 'rebooted':
      return { kind: 'fault', message: 'the host rebooted while it ran', held: false };
    case 'start-again':
    case 'never-decided':
      return { kind: 'fault', message: 'the records of the start are gone', held: false };
  }
}

async function endTree(context: TaskContext, message: string): Promise<{ message: string; held: boolean }> {
  const result = await context.stop(0);
  return { message, held: result === 'unkillable' };
}

/** Resolves when the attempt has run longer than it may; the time counts from its first start, whichever agent saw it. */
async function timeOut(context: TaskContext, label: Label): Promise<Extract<ProcessEnd, { kind: 'timed-out' }>> {
  const { host, attempt, order } = context;
  const { timeoutMs } = order.task.settings;
  if (timeoutMs === null) return new Promise(() => {});
  const path = `${attempt.directory}/first-start.json`;
  const known = await host.files.read(path);
  const nowMs = host.clock.bootMs();
  const startedMs = known === null ? nowMs : (JSON.parse(new TextDecoder().decode(known)) as { bootMs: number }).bootMs;
  if (known === null) await host.files.write(path, new TextEncoder().encode(JSON.stringify({ bootMs: nowMs, label })));
  await sleep(host.timers, Math.max(0, startedMs + timeoutMs - nowMs), context.signal);
  return context.signal.aborted ? new Promise(() => {}) : { kind: 'timed-out', timeoutMs };
}

function whenAborted(signal: AbortSignal): Promise<null> {
  if (signal.aborted) return Promise.resolve(null);
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(null), { once: true }));
}
