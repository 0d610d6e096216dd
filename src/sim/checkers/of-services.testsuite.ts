import type { Fact } from '../../core/fact.ts';
import { builtInSettings, type Settings } from '../../core/profile/settings.ts';
import type { Revision } from '../../core/service/service.ts';
import type { History } from '../history.ts';
import { history, joined, key, placed, runOf, seal, submitted, wholeLife } from './histories.testsuite.ts';

export const revision = (number: number, rollout: Partial<Settings['rollout']> = {}): Revision => {
  const spec = { name: 's', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [] };
  const settings = { ...builtInSettings, rollout: { ...builtInSettings.rollout, minReadyMs: 0, ...rollout } };
  return { number, spec, source: null, settings, origins: {}, profile: null, workspace: null };
};
export const applied = (number: number, desired = 1): Fact => {
  const about = { service: 's', project: 'default', owner: 'someone', by: 'someone' };
  return { kind: 'ServiceApplied', ...about, revision: revision(number), desired };
};
export const rollout = (to: number): Fact => ({ kind: 'RolloutStarted', service: 's', from: 1, to, deadlineAtMs: 100 });
export const replica = (job: string, number: number): Fact => ({
  ...(submitted(job) as Extract<Fact, { kind: 'JobSubmitted' }>),
  service: { name: 's', index: 0, revision: number },
});
export const readyAs = (job: string): readonly Fact[] => [
  placed(job),
  { ...key, job, kind: 'NodeReady' },
  { ...key, job, kind: 'JobStarted', port: 1 },
  { ...key, job, kind: 'ReadinessChanged', ready: true, reason: null },
];
export const unreadyNow: Fact = { ...key, job: 's-1', kind: 'ReadinessChanged', ready: false, reason: 'port refused' };
export const dismissedNow: Fact = { kind: 'ReplicaDismissed', service: 's', job: 's-1', reason: 'replaced' };
/** One replica is wanted and ready. */
export const served = [joined, applied(1), rollout(1), replica('s-1', 1), ...readyAs('s-1')];

export const readySeq = served.length;

/**
 * A run that answers well is said to be unready; it began to listen on its own port when the log held so many facts, and
 * what had been asked before was told when it held so many.
 */
export function saidUnready(openSeq: number | null, heardSeq: number | null = openSeq): History {
  return history([...served, unreadyNow], ({ truth }) => {
    const serves = { runsMs: [1000], exitCode: 0, opensMs: 0, elsewhere: false, cycle: [], missing: false };
    truth.processes.push(runOf({ attempt: 's-1.0.0.1', serves, openSeq, heardSeq, endMs: 1000, endSeq: 99 }));
  });
}

/** A rollout whose deadline has passed while thirty commits came; `bootMs` is what the clock of their machine said at each. */
export function overdue(bootMs: (nowMs: number) => number): History {
  const ticks = Array.from({ length: 30 }, (): Fact => ({ kind: 'ServiceSettled', service: 's' }));
  return history(wholeLife, (made) => {
    const batches = seal([...served, ...ticks], (index) => index * 1000);
    made.batches = batches.map((batch) => ({ ...batch, bootMs: bootMs(batch.nowMs) }));
  });
}
