import type { Host } from '../host/host.ts';
import type { ProcessIdentity } from '../host/processes.ts';
import { type Adoption, adoptProcess } from './adopt.ts';
import { type Label, readClaimRecord, readExitRecord } from './records.ts';

/** How a start came to its end. `start-again` when its shim died before the claim, so that nothing ran nor ever will. */
export type End = Extract<Adoption, { kind: 'ended' | 'lost' | 'start-again' | 'rebooted' | 'never-decided' }>;

export interface ExitWatch {
  /** Resolves when the start has ended. `nonce` is that of its start record. */
  wait(target: { directory: string; label: Label; nonce: string }): Promise<End>;
  /** Ends the watch; promises that still wait stay pending. */
  close(): void;
}

const pollMs = 1000;

/** Of so many polls one asks in full whether a shim lives; the others are content if its process id is taken. */
const pollsPerFullLook = 4;

/** A shim that has not claimed its start by then is taken to have died; should it live, it finds the claim taken. */
const claimWithinMs = 10_000;

/** Above this size the bell is emptied; a line lost by that is found by the poll. */
const longestBellBytes = 1024 * 1024;

type Cause = 'rang' | 'polled' | 'glanced';

interface Target {
  readonly directory: string;
  readonly label: Label;
  readonly nonce: string;
  readonly sinceMs: number;
  shim: ProcessIdentity | null;
  readonly resolve: (end: End) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Watches all starts of a node through one file, the bell, on which shims ring when they have written an exit record:
 * a watch of each attempt's directory would wake up with every line of its logs. A poll each second finds what does not
 * ring: a shim that died, or one that an older agent started.
 */
export async function createExitWatch(options: { host: Host; bell: string }): Promise<ExitWatch> {
  const { host, bell } = options;
  const targets = new Set<Target>();
  const look = async (target: Target, because: Cause): Promise<void> => {
    try {
      const end = await findEnd(host, target, because);
      if (end === null || !targets.delete(target)) return;
      target.resolve(end);
    } catch (error) {
      if (targets.delete(target)) target.reject(error);
    }
  };
  const lookAt = async (chosen: readonly Target[], because: Cause): Promise<void> => {
    for (const target of chosen) await look(target, because);
  };
  const readBell = await createBellReader(host, bell);
  const onRing = serialised(async () => {
    // A bell that cannot be read says as much as one that rang for all: each target's own records tell the rest.
    const rung = await readBell().catch(() => null);
    await lookAt(
      [...targets].filter((target) => rung?.has(target.directory) ?? true),
      'rang',
    );
  });
  const unwatch = host.files.watch(bell, onRing);
  let closed = false;
  let polls = 0;
  let cancelPoll: (() => void) | null = null;
  const schedulePoll = (): void => {
    // Who watches nothing is not woken.
    if (closed || targets.size === 0 || cancelPoll !== null) return;
    polls += 1;
    const because = polls % pollsPerFullLook === 0 ? 'polled' : 'glanced';
    cancelPoll = host.timers.after(pollMs, () => {
      void lookAt([...targets], because).then(() => {
        cancelPoll = null;
        schedulePoll();
      });
    });
  };

  return {
    wait: (target) =>
      new Promise((resolve, reject) => {
        const added: Target = { ...target, sinceMs: host.clock.bootMs(), shim: null, resolve, reject };
        targets.add(added);
        schedulePoll();
        void look(added, 'rang');
      }),
    close: () => {
      closed = true;
      unwatch();
      cancelPoll?.();
    },
  };
}

/** Null while it runs. Of one that did not ring, a shim that lives says enough: the poll costs little then. */
async function findEnd(host: Host, target: Target, because: Cause): Promise<End | null> {
  const place = { files: host.files, directory: target.directory, label: target.label };
  if (because !== 'rang' && target.shim !== null) {
    if (await host.processes.isAlive(target.shim, { glance: because === 'glanced' })) return null;
  }
  const exit = await readExitRecord(place);
  if (exit !== null) return { kind: 'ended', exit };
  if (target.shim === null) {
    const claim = await readClaimRecord(place, target.nonce);
    if (claim === null && host.clock.bootMs() - target.sinceMs < claimWithinMs) return null;
    if (claim !== null && claim !== 'torn' && claim.kind === 'shim') target.shim = claim.shim;
  }
  if (target.shim !== null && (await host.processes.isAlive(target.shim))) return null;
  const adoption = await adoptProcess({ host, directory: target.directory, label: target.label });
  return adoption.kind === 'running' ? null : adoption;
}

/** Returns a function that gives the directories that rang since its last call. */
async function createBellReader(host: Host, bell: string): Promise<() => Promise<ReadonlySet<string>>> {
  await host.files.write(bell, new Uint8Array(), { mode: 0o600 });
  let offset = 0;
  let unread = '';
  return async () => {
    const bytes = (await host.files.readAt(bell, offset, longestBellBytes)) ?? new Uint8Array();
    offset += bytes.length;
    const lines = (unread + new TextDecoder().decode(bytes)).split('\n');
    unread = lines.pop() ?? '';
    if (offset > longestBellBytes) {
      await host.files.write(bell, new Uint8Array(), { mode: 0o600 });
      offset = 0;
    }
    return new Set(lines);
  };
}

/** Runs `work` once at a time, and once more when it was asked for meanwhile. */
function serialised(work: () => Promise<void>): () => void {
  let state: 'idle' | 'busy' | 'asked' = 'idle';
  const run = async (): Promise<void> => {
    do {
      state = 'busy';
      await work();
    } while (isAsked());
    state = 'idle';
  };
  const isAsked = (): boolean => state === 'asked';
  return () => {
    if (state === 'idle') void run();
    else state = 'asked';
  };
}
