import { mkdirSync } from 'node:fs';
import { Agent } from '../agent/agent.ts';
import { fireTimers } from '../control/timers.ts';
import { checkName } from '../core/job/check-spec.ts';
import { sleep } from '../host/clock.ts';
import { type ExclusiveLock, takeExclusiveLock } from '../log/exclusive-lock.ts';
import type { NodeOptions, RunningNode } from './api.ts';
import { defaultNodeName, readCapacity } from './capacity.ts';
import type { Embedded } from './embedded.ts';
import { createEmbeddedChannel } from './embedded-channel.ts';
import { RefusalError } from './refusal-error.ts';
import { openSealing } from './secrets/sealing.ts';
import { version } from './version.ts';

const queueMs = 100;

/** Serves a node in this process. Null when another process has its name and the caller does not wait. */
export async function startNode(embedded: Embedded, options: NodeOptions): Promise<RunningNode | null> {
  const { home, host } = embedded;
  const name = options.name ?? defaultNodeName(host);
  const wrong = checkName(name, 'node');
  if (wrong !== null) throw new RefusalError(wrong);
  const directory = `${home}/nodes/${name}`;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lock = await waitForLock(embedded, `${directory}/lock.db`, options);
  if (lock === null) return null;
  try {
    return await serve(embedded, { name, directory, options, lock });
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function waitForLock({ host }: Embedded, path: string, options: NodeOptions): Promise<ExclusiveLock | null> {
  for (;;) {
    const lock = await takeExclusiveLock(path, host);
    if (lock !== null || options.wait !== true || options.signal?.aborted) return lock;
    await sleep(host.timers, queueMs, options.signal);
    if (options.signal?.aborted) return null;
  }
}

async function serve(
  embedded: Embedded,
  { name, directory, options, lock }: { name: string; directory: string; options: NodeOptions; lock: ExclusiveLock },
): Promise<RunningNode> {
  const { host, store, plane } = embedded;
  const instance = toHex(host.chance.bytes(8));
  const { capacity } = await readCapacity(host, options);
  let fail = (_error: Error): void => {};
  const failed = new Promise<Error>((resolve) => {
    fail = resolve;
  });
  await recordIdentity(embedded, directory, instance);
  await plane.catchUp();
  const agent = await Agent.start({
    host,
    channel: createEmbeddedChannel(embedded, name, instance),
    store,
    directory,
    node: name,
    instance,
    capacity,
    advertise: options.advertise ?? '127.0.0.1',
    version,
    environment: { ...process.env },
    sealing: await openSealing(embedded.home),
    onFault: (error) => fail(error instanceof Error ? error : new Error(String(error))),
  });
  const timers = new AbortController();
  fireTimers(plane, host, timers.signal).catch(embedded.onFault);
  return {
    name,
    failed,
    liveTasks: () => agent.liveTasks(),
    endTasks: (job, { graceMs }) => agent.endTasks(job, graceMs),
    async close() {
      timers.abort('closed');
      try {
        await agent.close({ leave: true });
        await host.files.remove(`${directory}/agent.json`);
      } finally {
        lock.release();
      }
    },
  };
}

/** By which `yard down` finds the agent, and no other process in its place. */
async function recordIdentity({ host }: Embedded, directory: string, instance: string): Promise<void> {
  const identity = await host.processes.identify(process.pid);
  const record = { ...identity, instance, startedAt: new Date(host.clock.wallMs()).toISOString() };
  await host.files.writeAtomic(`${directory}/agent.json`, new TextEncoder().encode(`${JSON.stringify(record)}\n`), {
    mode: 0o600,
  });
}

function toHex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
