import { type DecideContext, type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import type { ServiceCommand } from './command.ts';
import { applyService, checkReplicas, nextRevision, servingRevision } from './decide-apply.ts';
import { moveRollout, undoRollout } from './decide-rollout.ts';
import type { Service } from './service.ts';

export function decideService(state: State, command: ServiceCommand, context: DecideContext): Decision | Refusal {
  if (command.kind === 'ApplyService') return applyService(state, command, context);
  const service = state.services.get(command.service);
  if (service === undefined) return unknownService(state, command.service);
  const { name } = service;
  switch (command.kind) {
    case 'ScaleService':
      return scale(service, command);
    case 'RestartService':
      return restart(service, command, context.nowMs);
    case 'StopService':
      return done(service.standing === 'stopped' ? [] : [{ kind: 'ServiceStopped', service: name, by: command.by }]);
    case 'RemoveService':
      return remove(state, service, command);
    case 'PauseRollout':
      return moveRollout(service, 'paused', { kind: 'RolloutPaused', service: name, by: command.by });
    case 'ResumeRollout': {
      const current = service.revisions.get(service.revision);
      const deadlineAtMs = context.nowMs + (current?.settings.rollout.progressDeadlineMs ?? 0);
      return moveRollout(service, 'progressing', {
        kind: 'RolloutResumed',
        service: name,
        by: command.by,
        deadlineAtMs,
      });
    }
    case 'UndoRollout':
      return undoRollout(service, command, context.nowMs);
  }
}

function scale(service: Service, command: Extract<ServiceCommand, { kind: 'ScaleService' }>): Decision | Refusal {
  const { desired, remove: chosen, by } = command;
  const wrong = checkReplicas(desired);
  if (wrong !== null) return wrong;
  const unknown = chosen.find((job) => !service.replicas.has(job));
  if (unknown !== undefined) {
    return refuse('NOT_FOUND', `${unknown} is no replica of ${service.name}`, {
      hint: `yard services ${service.name}`,
    });
  }
  const leaving = [...new Set(chosen)].filter((job) => service.replicas.get(job)?.stopping === false);
  if (desired === service.desired && leaving.length === 0 && service.lost === 0) return done([]);
  return done([{ kind: 'ServiceScaled', service: service.name, desired, remove: leaving, by }]);
}

/** A new revision that differs in nothing: every replica is replaced, one after the other. */
function restart(
  service: Service,
  command: Extract<ServiceCommand, { kind: 'RestartService' }>,
  nowMs: number,
): Decision | Refusal {
  const current = service.revisions.get(service.revision);
  if (current === undefined || service.standing !== 'wanted') {
    return refuse('WRONG_STATE', `${service.name} is not running`, { hint: 'yard apply its file starts it again' });
  }
  const revision = { ...current, number: nextRevision(service) };
  const { name, project, owner, desired } = service;
  const deadlineAtMs = nowMs + current.settings.rollout.progressDeadlineMs;
  const from = servingRevision(service, revision.number);
  return {
    facts: [
      { kind: 'ServiceApplied', service: name, project, owner, revision, desired, by: command.by },
      { kind: 'RolloutStarted', service: name, from, to: revision.number, deadlineAtMs },
    ],
    answer: { kind: 'applied', revision: revision.number, changed: true },
  };
}

/** The service goes at once; its replicas are stopped, and are ordinary jobs until they have ended. */
function remove(state: State, service: Service, { by }: { by: string }): Decision {
  const facts: Fact[] = [{ kind: 'ServiceRemoved', service: service.name, by }];
  for (const replica of service.replicas.values()) {
    const job = state.jobs.get(replica.job);
    if (job === undefined || job.outcome !== null) continue;
    const message = `the service was removed by ${by}`;
    facts.push({ kind: 'OperatorStop', job: job.id, indices: null, by, graceMs: job.settings.graceMs, message });
  }
  return done(facts);
}

function unknownService(state: State, name: string): Refusal {
  const known = [...state.services.keys()].sort().join(', ');
  const shown = name.length > 60 ? `${name.slice(0, 57)}…` : name;
  return refuse('NOT_FOUND', `there is no service ${JSON.stringify(shown)}`, {
    hint: known === '' ? 'yard apply its file' : `there are: ${known}`,
  });
}
