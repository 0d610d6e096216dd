import { type Decision, done } from '../decide.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { ServiceCommand } from './command.ts';
import { servingRevision } from './decide-apply.ts';
import type { ServiceFact } from './facts.ts';
import { openRollout, type RolloutState, rolloutMoves, type Service } from './service.ts';

/** One move of the rollout, as the table of moves allows; none where it stands there already. */
export function moveRollout(service: Service, to: RolloutState, fact: ServiceFact): Decision | Refusal {
  const { rollout } = service;
  if (rollout === null) return refuse('WRONG_STATE', `${service.name} has no rollout`);
  if (rollout.state === to) return done([]);
  if ((rolloutMoves[rollout.state] as readonly RolloutState[]).includes(to)) return done([fact]);
  return refuse('WRONG_STATE', `the rollout of ${service.name} is ${rollout.state}: it cannot become ${to}`);
}

/**
 * Back to a revision. The one that an open rollout came from ends that rollout; any other is reached by a rollout of
 * its own. Either way the replicas are replaced within the bounds of a rollout.
 */
export function undoRollout(
  service: Service,
  command: Extract<ServiceCommand, { kind: 'UndoRollout' }>,
  nowMs: number,
): Decision | Refusal {
  const { name, rollout } = service;
  if (service.standing !== 'wanted') {
    return refuse('WRONG_STATE', `${name} is not running`, { hint: 'yard apply its file starts it again' });
  }
  const open = openRollout(service);
  const before =
    rollout !== null && rollout.state !== 'rolled-back' && rollout.from !== rollout.to ? rollout.from : null;
  const target = command.to ?? before;
  const revision = target === null ? undefined : service.revisions.get(target);
  if (revision === undefined) return unknownRevision(service, target);
  if (open !== null && revision.number === open.from && open.from !== open.to) {
    const reason = `undone by ${command.by}`;
    return done([{ kind: 'RolloutEnded', service: name, state: 'rolled-back', reason, by: command.by }]);
  }
  if (revision.number === service.revision) return done([]);
  const deadlineAtMs = nowMs + revision.settings.rollout.progressDeadlineMs;
  const from = servingRevision(service, revision.number);
  return done([{ kind: 'RolloutStarted', service: name, from, to: revision.number, deadlineAtMs, by: command.by }]);
}

function unknownRevision(service: Service, target: number | null): Refusal {
  const known = [...service.revisions.keys()].sort((a, b) => a - b).join(', ');
  const what = target === null ? 'no revision to go back to' : `no revision ${target}`;
  return refuse('NOT_FOUND', `${service.name} has ${what}`, { hint: `it has: ${known}` });
}
