import { mkdirSync } from 'node:fs';
import { makeRoomToBegin } from '../agent/disk-guard.ts';
import { checkName } from '../core/job/check-spec.ts';
import { sleep } from '../host/clock.ts';
import { toHex } from '../host/hex.ts';
import type { Host } from '../host/host.ts';
import { type ExclusiveLock, takeExclusiveLock } from '../log/exclusive-lock.ts';
import type { NodeOptions } from './api.ts';
import { defaultNodeName } from './capacity.ts';
import { RefusalError } from './refusal-error.ts';

/** The right to serve a node's name on this machine: one process has it at a time. */
export interface NodeSeat {
  readonly name: string;
  /** The node's own directory. */
  readonly directory: string;
  /** Random, one for each agent. */
  readonly instance: string;
  /** Gives the seat up, in good order. */
  release(): Promise<void>;
}

type SeatHost = Pick<Host, 'timers' | 'chance' | 'clock' | 'files' | 'processes' | 'machine'>;

const queueMs = 100;

/** Null when another process has the name and the caller does not wait. */
export async function takeSeat(
  { home, host }: { readonly home: string; readonly host: SeatHost },
  options: NodeOptions,
): Promise<NodeSeat | null> {
  const name = options.name ?? defaultNodeName(host);
  const wrong = checkName(name, 'node');
  if (wrong !== null) throw new RefusalError(wrong);
  const directory = `${home}/nodes/${name}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  await makeRoomToBegin(host.files, directory);
  const lock = await waitForLock(host, `${directory}/lock.db`, options);
  if (lock === null) return null;
  const instance = toHex(host.chance.bytes(8));
  try {
    await recordIdentity(host, directory, instance);
  } catch (error) {
    lock.release();
    throw error;
  }
  return {
    name,
    directory,
    instance,
    async release() {
      try {
        await host.files.remove(`${directory}/agent.json`);
      } finally {
        lock.release();
      }
    },
  };
}

async function waitForLock(host: SeatHost, path: string, options: NodeOptions): Promise<ExclusiveLock | null> {
  for (;;) {
    const lock = await takeExclusiveLock(path, host);
    if (lock !== null || options.wait !== true || options.signal?.aborted) return lock;
    await sleep(host.timers, queueMs, options.signal);
    if (options.signal?.aborted) return null;
  }
}

/** By which `yard down` finds the agent, and no other process in its place. */
async function recordIdentity(host: SeatHost, directory: string, instance: string): Promise<void> {
  const identity = await host.processes.identify(process.pid);
  const record = { ...identity, instance, startedAt: new Date(host.clock.wallMs()).toISOString() };
  await host.files.writeAtomic(`${directory}/agent.json`, new TextEncoder().encode(`${JSON.stringify(record)}\n`), {
    mode: 0o600,
  });
}
