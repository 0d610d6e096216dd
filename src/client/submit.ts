import { customRandom } from 'nanoid';
import type { SubmitJob } from '../core/command.ts';
import { checkSpec } from '../core/job/check-spec.ts';
import { idAlphabet, idSuffixLength } from '../core/job/job-id.ts';
import type { JobSpec, WorkspaceRef } from '../core/job/spec.ts';
import { refuse } from '../core/refusal.ts';
import { parseJobDocument } from '../wire/parse-document.ts';
import type { Submission } from '../wire/submission.ts';
import type { PushOptions, SubmissionDocument, SubmitOptions } from './api.ts';
import { withDocumentRefusals } from './document-refusals.ts';
import { type Embedded, execute } from './embedded.ts';
import { loadJob } from './find-job.ts';
import { pushWorkspace } from './push-workspace.ts';
import { RefusalError } from './refusal-error.ts';
import { requireSecrets } from './secrets/secrets.ts';

/** Pushes the workspace's missing bytes, then submits. Returns the id. */
export async function submit(
  embedded: Embedded,
  given: Submission | SubmissionDocument,
  options: Partial<SubmitOptions>,
): Promise<string> {
  const submission =
    'spec' in given ? given : withDocumentRefusals(() => parseJobDocument(given, { origin: 'submission' }));
  const wrong = checkSpec(submission.spec);
  if (wrong !== null) throw new RefusalError(wrong);
  // Told before anything is pushed; under the log's lock it is looked at again.
  await embedded.plane.catchUp();
  requireSecrets(embedded.plane.state, submission.spec, options.project);
  const workspace = await workspaceOf(embedded, submission, options);
  const { spec, source, profile, layers } = submission;
  const command: SubmitJob = {
    kind: 'SubmitJob',
    spec,
    source,
    profile,
    layers,
    workspace,
    project: options.project ?? 'default',
    owner: embedded.actor.name,
    retryOf: options.retryOf ?? null,
    indices: options.indices ?? null,
    ids: drawIds(embedded, spec.name),
  };
  const blobs = workspace === null ? {} : { blobs: [workspace.manifest] };
  const key = options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey };
  const answer = await execute(embedded, command, { ...blobs, ...key });
  if (answer.kind !== 'submitted') throw new Error(`a submission was answered with ${answer.kind}`);
  return answer.job;
}

async function workspaceOf(
  embedded: Embedded,
  { spec }: Submission,
  options: Partial<SubmitOptions>,
): Promise<WorkspaceRef | null> {
  if (options.workspaceOf !== undefined) return (await loadJob(embedded, options.workspaceOf))?.workspace ?? null;
  return pushOwnWorkspace(embedded, spec, options);
}

/** Pushes what is missing of the workspace, and tells the log so; null where the spec has none. */
export async function pushOwnWorkspace(
  embedded: Embedded,
  spec: JobSpec,
  options: Partial<PushOptions>,
): Promise<WorkspaceRef | null> {
  const workspace = await pushWorkspace(embedded, spec, options);
  if (workspace !== null) await embedded.plane.log.recordBlobs([workspace.manifest]);
  return workspace;
}

/** Several, so that one that is taken costs nothing; random, since counters repeat after a restore. */
function drawIds({ host }: Embedded, name: string): readonly string[] {
  const draw = customRandom(idAlphabet, idSuffixLength, (length) => host.chance.bytes(length));
  return Array.from({ length: 4 }, () => `${name}-${draw()}`);
}

/** The submission of an earlier job, to be changed and submitted again. */
export async function submissionOf(embedded: Embedded, id: string): Promise<Submission> {
  const job = await loadJob(embedded, id);
  if (job === null) throw new RefusalError(refuse('NOT_FOUND', `there is no job ${id}`));
  return { spec: job.spec, source: job.source, profile: null, layers: [{ origin: job.id, values: job.settings }] };
}
