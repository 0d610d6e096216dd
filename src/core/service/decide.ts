import type { ServiceCommand } from './command.ts';
import { type DecideContext, type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { checkName, checkSettings, checkSpec } from '../job/check-spec.ts';
import { checkTogether } from '../job/check-together.ts';
import { profileLayersOf } from '../profile/decide.ts';
import { mergeSettings } from '../profile/settings.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { mostReplicas, type Revision, rolloutMoves, type RolloutState, type Service } from './service.ts';

export function decideService(state: State, command: ServiceCommand, context: DecideContext): Decision | Refusal {
  if (command.kind === 'ApplyService') return applyService(state, command, context);
  const service = state.services.get(command.service);
  if (service === undefined) return unknownService(state, command.service);
  switch (command.kind) {
    case 'ScaleService':
      return scale(service, command);
    case 'RestartService':
      return restart(service, command, context.nowMs);
    case 'StopService':
      return done(
        service.standing === 'stopped' ? [] : [{ kind: 'ServiceStopped', service: service.name, by: command.by }],
      );
    case 'RemoveService':
      return remove(state, service, command);
    case 'PauseRollout':
      return moveRollout(service, 'paused', () => [{ kind: 'RolloutPaused', service: service.name, by: command.by }]);
    case 'ResumeRollout': {
      const deadlineAtMs = context.nowMs + progressDeadlineMs(service);
      return moveRollout(service, 'progressing', () => [
        { kind: 'RolloutResumed', service: service.name, by: command.by, deadlineAtMs },
      ]);
    }
    case 'UndoRollout':
      return undo(service, command, context.nowMs);
  }
}

function applyService(
  state: State,
  command: Extract<ServiceCommand, { kind: 'ApplyService' }>,
  context: DecideContext,
): Decision | Refusal {
  const named = profileLayersOf(state, command.profile);
  if (isRefusal(named)) return named;
  const { settings, origins } = mergeSettings([...named, ...command.layers]);
  const wrong =
    checkSpec(command.spec) ??
    checkSettings(settings) ??
    checkTogether(command.spec, settings) ??
    checkReplicas(settings.replicas ?? 1);
  if (wrong !== null) return wrong;
  if (command.workspace !== null && context.missingBlobs.has(command.workspace.manifest)) {
    return refuse('MISSING_BLOBS', 'the workspace of the service has not been pushed', {
      hint: 'push it and apply again',
    });
  }
  const { spec, source, profile, workspace, project, owner } = command;
  const known = state.services.get(spec.name);
  const desired = settings.replicas ?? known?.desired ?? 1;
  const current = known?.revisions.get(known.revision);
  const candidate: Revision = { number: nextRevision(known), spec, source, settings, origins, profile, workspace };
  if (known !== undefined && current !== undefined && runsTheSame(current, candidate)) {
    return applyUnchanged(known, { desired, by: owner });
  }
  const facts: Fact[] = [
    { kind: 'ServiceApplied', service: spec.name, project, owner, revision: candidate, desired, by: owner },
  ];
  const deadlineAtMs = context.nowMs + settings.rollout.progressDeadlineMs;
  const from = known !== undefined && known.replicas.size > 0 ? servingRevision(known) : candidate.number;
  facts.push({ kind: 'RolloutStarted', service: spec.name, from, to: candidate.number, deadlineAtMs });
  return { facts, answer: { kind: 'applied', revision: candidate.number, changed: true } };
}

/** Of two applies in a row the second goes on from what serves, not from what never came up. */
function servingRevision(service: Service): number {
  const { rollout } = service;
  const isOpen = rollout !== null && rollout.state !== 'done' && rollout.state !== 'rolled-back';
  return isOpen ? rollout.from : service.revision;
}

function applyUnchanged(service: Service, { desired, by }: { desired: number; by: string }): Decision {
  const facts: Fact[] = [];
  if (service.standing !== 'wanted') facts.push({ kind: 'ServiceStarted', service: service.name, by });
  if (desired !== service.desired)
    facts.push({ kind: 'ServiceScaled', service: service.name, desired, remove: [], by });
  return { facts, answer: { kind: 'applied', revision: service.revision, changed: facts.length > 0 } };
}

/** Everything that a replica runs on; the number of replicas and how a rollout proceeds are not part of it. */
function runsTheSame(a: Revision, b: Revision): boolean {
  const what = ({ spec, settings, workspace }: Revision): string => {
    const { replicas: _replicas, rollout: _rollout, ...rest } = settings;
    return JSON.stringify([spec, rest, workspace?.manifest ?? null]);
  };
  return what(a) === what(b);
}

function nextRevision(service: Service | undefined): number {
  return service === undefined ? 1 : Math.max(...service.revisions.keys()) + 1;
}

function scale(service: Service, command: Extract<ServiceCommand, { kind: 'ScaleService' }>): Decision | Refusal {
  const { desired, remove: chosen, by } = command;
  const wrong = checkReplicas(desired);
  if (wrong !== null) return wrong;
  const unknown = chosen.find((job) => !service.replicas.has(job));
  if (unknown !== undefined)
    return refuse('NOT_FOUND', `${unknown} is no replica of ${service.name}`, {
      hint: `yard services ${service.name}`,
    });
  if (desired === service.desired && chosen.length === 0) return done([]);
  const facts: Fact[] = [{ kind: 'ServiceScaled', service: service.name, desired, remove: chosen, by }];
  return done(facts);
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
  return {
    facts: [
      { kind: 'ServiceApplied', service: name, project, owner, revision, desired, by: command.by },
      { kind: 'RolloutStarted', service: name, from: servingRevision(service), to: revision.number, deadlineAtMs },
    ],
    answer: { kind: 'applied', revision: revision.number, changed: true },
  };
}

/** Its replicas are stopped first; it goes when the last of them has ended. */
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

function moveRollout(service: Service, to: RolloutState, facts: () => readonly Fact[]): Decision | Refusal {
  const { rollout } = service;
  if (rollout === null) return refuse('WRONG_STATE', `${service.name} has had no rollout`);
  if (rollout.state === to) return done([]);
  if ((rolloutMoves[rollout.state] as readonly RolloutState[]).includes(to)) return done(facts());
  return refuse('WRONG_STATE', `the rollout of ${service.name} is ${rollout.state}: it cannot become ${to}`);
}

function undo(
  service: Service,
  command: Extract<ServiceCommand, { kind: 'UndoRollout' }>,
  nowMs: number,
): Decision | Refusal {
  const { rollout } = service;
  const isOpen = rollout !== null && rollout.state !== 'done' && rollout.state !== 'rolled-back';
  const target = command.to ?? (rollout === null ? null : isOpen || rollout.state === 'done' ? rollout.from : null);
  if (target === null || !service.revisions.has(target)) {
    const known = [...service.revisions.keys()].sort((a, b) => a - b).join(', ');
    return refuse('NOT_FOUND', `${service.name} has no revision ${target ?? 'to go back to'}`, {
      hint: `it has: ${known}`,
    });
  }
  if (isOpen && target === rollout.from && target !== rollout.to) {
    return done([
      { kind: 'RolloutEnded', service: service.name, state: 'rolled-back', reason: `undone by ${command.by}` },
    ]);
  }
  if (target === service.revision) return done([]);
  const deadlineAtMs = nowMs + (service.revisions.get(target)?.settings.rollout.progressDeadlineMs ?? 600_000);
  return done([
    { kind: 'RolloutStarted', service: service.name, from: servingRevision(service), to: target, deadlineAtMs },
  ]);
}

function progressDeadlineMs(service: Service): number {
  return service.revisions.get(service.revision)?.settings.rollout.progressDeadlineMs ?? 600_000;
}

function checkReplicas(count: number): Refusal | null {
  if (Number.isInteger(count) && count >= 0 && count <= mostReplicas) return null;
  return refuse('RANGE', `replicas is ${count}; expected a whole number from 0 to ${mostReplicas}`, {
    path: 'profile.replicas',
  });
}

function unknownService(state: State, name: string): Refusal {
  const known = [...state.services.keys()].sort().join(', ');
  return refuse('NOT_FOUND', `there is no service ${JSON.stringify(name)}`, {
    hint: known === '' ? 'yard apply its file' : `there are: ${known}`,
  });
}
