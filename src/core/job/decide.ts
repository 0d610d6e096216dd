import { checkProject } from '../access/decide.ts';
import { checkQueued } from '../access/quota.ts';
import type { Command, SubmitJob } from '../command.ts';
import { type DecideContext, type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { awaitedNode } from '../node/loss.ts';
import { awaitedRelease } from '../placement/place.ts';
import { profileLayersOf } from '../profile/decide.ts';
import { mergeSettings } from '../profile/settings.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { checkSecretsSet } from '../secrets/decide.ts';
import type { State } from '../state.ts';
import { checkGrace, checkIndices, checkName, checkSettings, checkSpec } from './check-spec.ts';
import { checkTogether } from './check-together.ts';
import { elementCount } from './job.ts';

/** What a submission is decided by beside the state. */
type SubmitContext = Pick<DecideContext, 'archivedIds' | 'missingBlobs'>;

export function decideSubmitJob(state: State, command: SubmitJob, context: SubmitContext): Decision | Refusal {
  const named = profileLayersOf(state, command.profile);
  if (isRefusal(named)) return named;
  const { settings, origins } = mergeSettings([...named, ...command.layers]);
  const wrong =
    checkSpec(command.spec) ??
    checkName(command.project, 'project') ??
    checkProject(state, command.project) ??
    checkSettings(settings) ??
    checkTogether(command.spec, settings) ??
    checkIndices(command.indices, settings) ??
    checkSecretsSet(state, command.project, command.spec) ??
    checkBlobs(command, context) ??
    checkQueued(state, command.project);
  if (wrong !== null) return wrong;
  const id = command.ids.find((one) => !state.jobs.has(one) && !context.archivedIds.has(one));
  if (id === undefined) return refuse('ID_TAKEN', 'every id drawn for the job is taken already');
  const { spec, source, profile, workspace, project, owner, retryOf, indices } = command;
  const { name } = spec;
  return {
    facts: [
      {
        kind: 'JobSubmitted',
        job: id,
        name,
        project,
        owner,
        spec,
        source,
        settings,
        origins,
        profile,
        workspace,
        retryOf,
        indices,
        service: null,
      },
    ],
    answer: { kind: 'submitted', job: id },
  };
}

function checkBlobs(command: SubmitJob, context: SubmitContext): Refusal | null {
  if (command.workspace === null || !context.missingBlobs.has(command.workspace.manifest)) return null;
  return refuse('MISSING_BLOBS', 'the workspace of the submission has not been pushed', {
    hint: 'push it and submit again',
  });
}

export function decideStopJob(state: State, command: Extract<Command, { kind: 'StopJob' }>): Decision | Refusal {
  const job = state.jobs.get(command.job);
  if (job === undefined) return refuse('NOT_FOUND', `no job ${command.job} is alive`);
  if (job.outcome !== null) return done([]);
  const { indices, by } = command;
  const wrong = command.graceMs === null ? null : checkGrace(command.graceMs, 'grace');
  if (wrong !== null) return wrong;
  for (const index of indices ?? []) {
    if (job.elements.has(index)) continue;
    const inArray = Number.isInteger(index) && index >= 0 && index < elementCount(job);
    const exists = job.indices === null ? inArray : job.indices.includes(index);
    if (!exists) return refuse('NOT_FOUND', `${job.id} has no index ${index}`);
  }
  const graceMs = command.graceMs ?? job.settings.graceMs;
  return done([{ kind: 'OperatorStop', job: job.id, indices, by, graceMs, message: `stopped by ${by}` }]);
}

/** The next attempt of what waits for a lost node, on a person's word that it need not wait. */
export function decideRetryTask(state: State, command: Extract<Command, { kind: 'RetryTask' }>): Decision | Refusal {
  const job = state.jobs.get(command.job);
  if (job === undefined) return refuse('NOT_FOUND', `no job ${command.job} is alive`);
  const { index: only, by } = command;
  const facts: Fact[] = [];
  for (const [index, element] of job.elements) {
    if ((only !== null && index !== only) || element.kind === 'ended' || element.retryAsked) continue;
    const awaited = element.kind === 'live' ? awaitedNode(state, job, index) : awaitedRelease(state, job, index);
    if (awaited === null) continue;
    facts.push({ kind: 'RetryRequested', job: job.id, index, attempt: element.attempt, by });
  }
  if (facts.length > 0) return done(facts);
  const part = only === null ? job.id : `${job.id}/${only}`;
  return refuse('WRONG_STATE', `${part} does not wait for a lost node`, {
    hint: `what it does: yard explain ${job.id}`,
  });
}

export function decideUnschedulable(
  state: State,
  command: Extract<Command, { kind: 'FailUnschedulable' }>,
): Decision | Refusal {
  const job = state.jobs.get(command.job);
  if (job === undefined) return refuse('NOT_FOUND', `no job ${command.job} is alive`);
  if (job.outcome !== null || job.live > 0) return done([]);
  const by = command.by === undefined ? {} : { by: command.by };
  return done([{ kind: 'Unschedulable', job: job.id, message: command.message, ...by }]);
}
