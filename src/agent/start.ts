import { toHex } from '../host/hex.ts';
import type { Host } from '../host/host.ts';
import { buildArgv, type Command } from './command.ts';
import { type Label, type StartRecord, writeStartRecord } from './records.ts';

export interface StartOptions {
  readonly host: Host;
  /** The attempt's directory. */
  readonly directory: string;
  readonly label: Label;
  readonly command: Command;
  /** The whole environment (task-environment.ts), RUNYARD_MARK included. */
  readonly env: Readonly<Record<string, string>>;
  /** More of it, over the rest: values that nothing of ours writes down or names to a program. */
  readonly secretEnv: Readonly<Record<string, string>>;
  readonly workdir: string;
  /** By which every descendant is found again. */
  readonly mark: string;
  readonly maxProcesses: number | null;
  readonly memoryMiB: number | null;
  /** The node's bell (exit-watch.ts), or null. */
  readonly bell: string | null;
  /** Aborted when it is not to start any more. */
  readonly signal: AbortSignal;
}

/**
 * Starts a command at most once. The journal is on the disk before the shim is spawned, and the nonce that it holds is
 * this decision's: after a crash, whoever creates the claim of that nonce first (the shim, or the next agent) settles
 * whether it ran. Null when it was not to start any more: whoever ends an attempt aborts first and then looks for the
 * journal, so either this sees the one or that the other. Throws a HostError when the journal cannot be written (then nothing was started) or the system
 * cannot spawn.
 */
export async function startProcess(options: StartOptions): Promise<StartRecord | null> {
  const { host, directory, label, env, workdir, mark, maxProcesses, memoryMiB, bell, signal } = options;
  // By the mark alone what the command leaves behind is found.
  const { RUNYARD_MARK: _mark, ...secretEnv } = options.secretEnv;
  const place = { files: host.files, directory, label };
  const argv = await buildArgv(options.command, { ...place, path: env.PATH ?? '' });
  const start: StartRecord = { nonce: toHex(host.chance.bytes(12)), mark, bootId: host.clock.bootId() };
  await writeStartRecord(place, start);
  if (signal.aborted) return null;
  const { nonce } = start;
  await host.processes.launch({
    directory,
    workdir,
    label,
    nonce,
    argv,
    env: { ...env, RUNYARD_MARK: mark },
    secretEnv,
    mark,
    maxProcesses,
    memoryMiB,
    bell,
  });
  return start;
}
