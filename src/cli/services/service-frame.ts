import type { ReplicaView, RolloutView, ServiceView } from '../../core/service/view.ts';
import { describeDuration } from '../../core/units.ts';
import type { FrameLine } from '../output/output.ts';
import { hintFor, replicaLine } from './replica-line.ts';

/** More would not fit on a small screen; those that are ready and settled go first. */
const mostReplicas = 14;

/** A service while something becomes of it: what is asked for, each replica, and how far it is. */
export function serviceFrame(view: ServiceView, nowMs: number): readonly FrameLine[] {
  const trouble = troubleOf(view);
  return [
    [{ text: headLine(view) }],
    ...replicaLines(view, nowMs),
    ...(trouble === null ? [] : [[{ text: `  ${trouble}`, tone: 'waiting' } as const]]),
    [{ text: progressLine(view, nowMs) }],
  ];
}

/** How a replica ended that none of those shown is; its replacement waits because of it. */
export function troubleOf({ reason, state }: ServiceView): string | null {
  const isOpen = state === 'UPDATING' || state === 'WAITING';
  return isOpen && reason?.includes(' ended: ') ? reason : null;
}

/** `llm  revision 4 → 5   replicas 2   surge 1, unavailable 0`. */
export function headLine(view: ServiceView): string {
  const { name, desired, rollout, revision } = view;
  const isMove = rollout !== null && rollout.from !== rollout.to && rollout.state !== 'rolled-back';
  const way = isMove ? `revision ${rollout.from} → ${rollout.to}` : `revision ${revision}`;
  const bounds = boundsOf(view);
  return `${name}  ${way}   replicas ${desired}${bounds === null ? '' : `   ${bounds}`}`;
}

function boundsOf({ replicas, rollout, revision }: ServiceView): string | null {
  if (rollout === null || rollout.from === rollout.to || rollout.state === 'rolled-back') return null;
  const settings = (replicas.find((one) => one.revision === revision) ?? replicas[0])?.settings;
  if (settings === undefined) return null;
  return `surge ${settings.rollout.maxSurge}, unavailable ${settings.rollout.maxUnavailable}`;
}

function replicaLines({ replicas }: ServiceView, nowMs: number): readonly FrameLine[] {
  const isSettled = (replica: ReplicaView): boolean => replica.ready && !replica.stopping;
  const leftOut = Math.max(0, replicas.length - mostReplicas);
  const hidden = new Set(replicas.filter(isSettled).slice(0, leftOut));
  const shown = replicas.filter((replica) => !hidden.has(replica)).slice(0, mostReplicas);
  const idWidth = Math.max(0, ...shown.map(({ id }) => id.length));
  const revisionWidth = Math.max(0, ...shown.map(({ revision }) => String(revision).length));
  const lines = shown.flatMap((replica): FrameLine[] => {
    const { word, detail, tone } = replicaLine(replica, nowMs);
    const start = `  ${replica.id.padEnd(idWidth)}  rev ${String(replica.revision).padEnd(revisionWidth)}  `;
    const hint = hintFor(replica);
    return [
      [{ text: start }, { text: word.padEnd(9), ...(tone === null ? {} : { tone }) }, { text: `  ${detail}` }],
      ...(hint === null ? [] : [[{ text: `    ${hint}` }]]),
    ];
  });
  const rest = replicas.length - shown.length;
  return rest === 0 ? lines : [...lines, [{ text: `  … and ${rest} more` }]];
}

/** `updated 1 of 2`. One that is done was of as many as it updated, whatever the service was scaled to since. */
export function updatedText({ state, updated }: RolloutView, desired: number): string {
  return `updated ${updated} of ${state === 'done' ? updated : desired}`;
}

/** `updated 1 of 2 · deadline in 9 min 12 s`. */
export function progressLine(view: ServiceView, nowMs: number): string {
  const { rollout, desired, ready } = view;
  if (rollout === null) return `${ready} of ${desired} ready`;
  if (rollout.state === 'rolled-back') return `${ready} of ${desired} ready · rolled back from revision ${rollout.to}`;
  const parts = [updatedText(rollout, desired)];
  if (rollout.state === 'paused') parts.push(rollout.reason ?? 'paused');
  if (rollout.state === 'failed') parts.push('failed');
  if (rollout.state === 'progressing' && rollout.deadlineAt !== null) {
    const leftMs = Math.max(0, Date.parse(rollout.deadlineAt) - nowMs);
    parts.push(`deadline in ${describeDuration(Math.ceil(leftMs / 1000) * 1000).replace('.0 s', ' s')}`);
  }
  return parts.join(' · ');
}
