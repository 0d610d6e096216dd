import { checkProject } from '../access/decide.ts';
import type { DecideContext, Decision } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { checkName, checkSettings, checkSpec } from '../job/check-spec.ts';
import { checkTogether } from '../job/check-together.ts';
import { profileLayersOf } from '../profile/decide.ts';
import { mergeSettings, type Settings } from '../profile/settings.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { checkSecretsSet } from '../secrets/decide.ts';
import type { State } from '../state.ts';
import type { ServiceCommand } from './command.ts';
import { mostReplicas, openRollout, type Revision, type Service } from './service.ts';

type ApplyService = Extract<ServiceCommand, { kind: 'ApplyService' }>;

/** Makes it so: nothing for what is so already, a scaling for another number, a new revision and a rollout for the rest. */
export function applyService(state: State, command: ApplyService, context: DecideContext): Decision | Refusal {
  const named = profileLayersOf(state, command.profile);
  if (isRefusal(named)) return named;
  const asService = { origin: 'built-in', values: { kind: 'service' } } as const;
  const { settings, origins } = mergeSettings([asService, ...named, ...command.layers]);
  const wrong = checkApply(state, command, settings, context) ?? checkSecretsSet(state, command.project, command.spec);
  if (wrong !== null) return wrong;
  const { spec, source, profile, workspace, project, owner } = command;
  const known = state.services.get(spec.name);
  if (known !== undefined && known.project !== project) return otherProject(known, project);
  const desired = settings.replicas ?? known?.desired ?? 1;
  const number = known === undefined ? 1 : nextRevision(known);
  const revision: Revision = { number, spec, source, settings, origins, profile, workspace };
  if (known !== undefined) {
    const same = applySame(known, revision, { desired, by: owner, nowMs: context.nowMs });
    if (same !== null) return same;
  }
  const from = known === undefined ? number : servingRevision(known, number);
  const deadlineAtMs = context.nowMs + settings.rollout.progressDeadlineMs;
  return {
    facts: [
      { kind: 'ServiceApplied', service: spec.name, project, owner, revision, desired, by: owner },
      { kind: 'RolloutStarted', service: spec.name, from, to: number, deadlineAtMs },
    ],
    answer: { kind: 'applied', revision: number, changed: true },
  };
}

/** A name is a service's in all projects; it stays in the one it was first applied to. */
function otherProject({ name, project: has }: Service, project: string): Refusal {
  return refuse('WRONG_STATE', `service ${name} is of project ${has}, and was applied to ${project}`, {
    path: 'project',
    hint: `apply it with --project ${has}, or give this one another name`,
  });
}

function checkApply(state: State, command: ApplyService, settings: Settings, context: DecideContext): Refusal | null {
  const wrong =
    checkSpec(command.spec) ??
    checkName(command.project, 'project') ??
    checkProject(state, command.project) ??
    checkSettings(settings) ??
    checkTogether(command.spec, settings) ??
    checkReplicas(settings.replicas ?? 1);
  if (wrong !== null) return wrong;
  if (settings.kind !== 'service') {
    const hint = 'leave "kind" out, or name another profile';
    return refuse('BAD_VALUE', 'its profile is for jobs (kind = "job")', { path: 'profile.kind', hint });
  }
  if (command.workspace === null || !context.missingBlobs.has(command.workspace.manifest)) return null;
  return refuse('MISSING_BLOBS', 'the workspace of the service has not been pushed', {
    hint: 'push it and apply again',
  });
}

/**
 * What is asked for runs already, or ran before the rollout under way: the first changes at most the number of
 * replicas and starts a failed rollout anew, the second undoes the rollout. Null when it is something new.
 */
function applySame(
  service: Service,
  wanted: Revision,
  { desired, by, nowMs }: { desired: number; by: string; nowMs: number },
): Decision | null {
  const { name, project, owner, rollout, standing, lost } = service;
  const open = openRollout(service);
  const isCurrent = runsTheSame(service.revisions.get(service.revision), wanted);
  const isUndo = !isCurrent && open !== null && runsTheSame(service.revisions.get(open.from), wanted);
  if (!isCurrent && !isUndo) return null;
  const number = isUndo ? open.from : service.revision;
  const facts: Fact[] = [];
  if (isUndo) facts.push({ kind: 'RolloutEnded', service: name, state: 'rolled-back', reason: `undone by ${by}`, by });
  if (!isSame(service.revisions.get(number)?.settings.rollout, wanted.settings.rollout)) {
    // How rollouts proceed is part of a revision, yet no reason to replace what runs.
    facts.push({ kind: 'ServiceApplied', service: name, project, owner, revision: { ...wanted, number }, desired, by });
  } else {
    if (standing !== 'wanted' || lost > 0) facts.push({ kind: 'ServiceStarted', service: name, by });
    if (desired !== service.desired) facts.push({ kind: 'ServiceScaled', service: name, desired, remove: [], by });
  }
  if (isCurrent && rollout?.state === 'failed') {
    const deadlineAtMs = nowMs + wanted.settings.rollout.progressDeadlineMs;
    facts.push({ kind: 'RolloutResumed', service: name, by, deadlineAtMs });
  }
  return { facts, answer: { kind: 'applied', revision: number, changed: facts.length > 0 } };
}

/** Everything that a replica runs on; the number of replicas and how a rollout proceeds are not part of it. */
function runsTheSame(a: Revision | undefined, b: Revision): boolean {
  const what = ({ spec, settings, workspace }: Revision): unknown => {
    const { replicas: _replicas, rollout: _rollout, ...rest } = settings;
    return [spec, rest, workspace?.manifest ?? null];
  };
  return a !== undefined && isSame(what(a), what(b));
}

/** Plain JSON with the same content; the order in which keys were written says nothing. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const inB = new Map<string, unknown>(Object.entries(b));
  const inA = Object.entries(a) as [string, unknown][];
  return inA.length === inB.size && inA.every(([key, value]) => inB.has(key) && isSame(value, inB.get(key)));
}

/**
 * What a rollout to another revision goes back to: what served, not what never came up. Where nothing is wanted to run,
 * or nothing served yet, the rollout begins with its own revision.
 */
export function servingRevision({ standing, desired, served }: Service, own: number): number {
  return standing !== 'wanted' || desired === 0 ? own : (served ?? own);
}

export function nextRevision(service: Service): number {
  return Math.max(...service.revisions.keys()) + 1;
}

export function checkReplicas(count: number): Refusal | null {
  if (Number.isInteger(count) && count >= 0 && count <= mostReplicas) return null;
  return refuse('RANGE', `replicas is ${count}; expected a whole number from 0 to ${mostReplicas}`, {
    path: 'profile.replicas',
  });
}
