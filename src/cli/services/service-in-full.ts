import type { ServiceView } from '../../core/service/view.ts';
import { layoutTable } from '../output/table.ts';
import { describeAge } from '../views/age.ts';
import { hintFor, lastFailureOf, replicaLine, restartsIn } from './replica-line.ts';
import { updatedText } from './service-frame.ts';

const mostEvents = 8;

/** One service in full, for a person: counts, rollout, replicas, endpoints and what happened last (X7, X27). */
export function serviceInFull(view: ServiceView, nowMs: number, width: number | null): string {
  const { name, state, reason, ready, running, desired, owner, project, profile } = view;
  const facts: (readonly [string, string] | null)[] = [
    ['state', [state, reason].filter(Boolean).join('  ')],
    ['replicas', `${desired} wanted, ${running} running, ${ready} ready`],
    ['revision', revisionText(view)],
    rolloutFact(view),
    ['owner', `${owner}, project ${project}`],
    profile === null ? null : ['profile', profile],
  ];
  const lines = facts.filter((fact) => fact !== null).map(([key, value]) => `  ${key.padEnd(10)}${value}`);
  const parts = [[name, ...lines].join('\n')];
  if (view.replicas.length > 0) parts.push(replicasTable(view, nowMs, width) + hintsText(view));
  const events = view.events.slice(0, mostEvents);
  const rows = events.map(({ at, message }) => [`${describeAge(nowMs - Date.parse(at))} ago`, message]);
  if (rows.length > 0) parts.push(layoutTable(['WHEN', 'WHAT HAPPENED'], rows, width));
  return parts.join('\n\n');
}

function revisionText({ revision, revisions }: ServiceView): string {
  const others = revisions.filter((one) => one !== revision);
  return others.length === 0 ? String(revision) : `${revision} (kept to go back to: ${others.join(', ')})`;
}

function rolloutFact({ rollout, desired, reason: why }: ServiceView): readonly [string, string] | null {
  if (rollout === null) return null;
  const way = rollout.from === rollout.to ? `${rollout.to}` : `${rollout.from} → ${rollout.to}`;
  // The line of the state may have said it.
  const isSaid = rollout.reason === null || why?.endsWith(rollout.reason) === true;
  const reason = isSaid ? '' : `: ${rollout.reason}`;
  return ['rollout', `${way} ${rollout.state.replace('-', ' ')}, ${updatedText(rollout, desired)}${reason}`];
}

/** What to do about replicas that are not ready; what goes for several is said once. */
function hintsText({ replicas }: ServiceView): string {
  const hints = new Set(replicas.map(hintFor).filter((hint) => hint !== null));
  return [...hints].map((hint) => `\n  ${hint}`).join('');
}

function replicasTable({ replicas }: ServiceView, nowMs: number, width: number | null): string {
  const rows = replicas.map((replica) => {
    const { word, detail } = replicaLine(replica, nowMs);
    const endpoints = replica.tasks.flatMap(({ endpoint }) => (endpoint === null ? [] : [endpoint]));
    const failure = lastFailureOf(replica);
    const why = word === 'ready' ? (failure === null ? '' : `last: ${failure}`) : detail;
    return [
      replica.id,
      String(replica.revision),
      word,
      replica.tasks[0]?.node ?? '–',
      String(restartsIn(replica)),
      endpoints.join(' ') || '–',
      why,
    ];
  });
  return layoutTable(['REPLICA', 'REV', 'STATE', 'NODE', 'RESTARTS', 'ENDPOINT', 'WHY'], rows, width);
}
