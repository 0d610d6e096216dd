import type { Command, SubmitJob } from '../command.ts';
import { type DecideContext, type Decision, done } from '../decide.ts';
import { profileLayersOf } from '../profile/decide.ts';
import { mergeSettings } from '../profile/settings.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { checkGrace, checkIndices, checkName, checkSettings, checkSpec } from './check-spec.ts';
import { checkTogether } from './check-together.ts';
import { elementCount } from './job.ts';

export function decideSubmitJob(state: State, command: SubmitJob, context: DecideContext): Decision | Refusal {
  const named = profileLayersOf(state, command.profile);
  if (isRefusal(named)) return named;
  const { settings, origins } = mergeSettings([...named, ...command.layers]);
  const wrong =
    checkSpec(command.spec) ??
    checkName(command.project, 'project') ??
    checkSettings(settings) ??
    checkTogether(command.spec, settings) ??
    checkIndices(command.indices, settings) ??
    checkBlobs(command, context);
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

function checkBlobs(command: SubmitJob, context: DecideContext): Refusal | null {
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

export function decideUnschedulable(
  state: State,
  command: Extract<Command, { kind: 'FailUnschedulable' }>,
): Decision | Refusal {
  const job = state.jobs.get(command.job);
  if (job === undefined) return refuse('NOT_FOUND', `no job ${command.job} is alive`);
  if (job.outcome !== null || job.live > 0) return done([]);
  return done([{ kind: 'Unschedulable', job: job.id, message: command.message }]);
}
