import { customRandom } from 'nanoid';
import { authorize } from '../core/access/authorize.ts';
import type { SubmitJob } from '../core/command.ts';
import { checkSpec } from '../core/job/check-spec.ts';
import { decideSubmitJob } from '../core/job/decide.ts';
import type { Job } from '../core/job/job.ts';
import { idAlphabet, idSuffixLength } from '../core/job/job-id.ts';
import type { JobSpec, WorkspaceRef } from '../core/job/spec.ts';
import { isRefusal, refuse } from '../core/refusal.ts';
import { parseJobDocument } from '../wire/parse-document.ts';
import type { Submission } from '../wire/submission.ts';
import type { PushOptions, SubmissionDocument, SubmitOptions } from './api.ts';
import { isSubmission, withDocumentRefusals } from './document-refusals.ts';
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
  const submission = await readSubmission(embedded, given, options.project);
  const workspace =
    options.workspaceOf === undefined
      ? await pushOwnWorkspace(embedded, submission.spec, options)
      : await workspaceOfJob(embedded, options.workspaceOf);
  return submitPushed(embedded, submission, { ...options, workspace });
}

/** Reads a submission and refuses what is wrong with it before anything is pushed. */
export async function readSubmission(
  embedded: Embedded,
  given: Submission | SubmissionDocument,
  project: string | undefined,
): Promise<Submission> {
  const submission = isSubmission(given)
    ? given
    : withDocumentRefusals(() => parseJobDocument(given, { origin: 'submission' }));
  const wrong = checkSpec(submission.spec);
  if (wrong !== null) throw new RefusalError(wrong);
  // Under the log's lock it is looked at again.
  await embedded.plane.catchUp();
  requireSecrets(embedded.plane.state, submission.spec, project);
  return submission;
}

/** The workspace of an earlier job, byte for byte. */
export async function workspaceOfJob(embedded: Embedded, id: string): Promise<WorkspaceRef | null> {
  return (await requireEarlier(embedded, id)).workspace;
}

/** An earlier job that one may see: what is not there, and what is not theirs, is told in the same words. */
async function requireEarlier(embedded: Embedded, id: string): Promise<Job> {
  const job = await loadJob(embedded, id);
  if (job !== null) return job;
  throw new RefusalError(refuse('NOT_FOUND', `there is no job ${id}`, { hint: 'yard jobs --all lists them' }));
}

export interface SubmitPushed {
  /** Stored already; null where the job has none. */
  readonly workspace: WorkspaceRef | null;
  readonly project?: string;
  readonly retryOf?: string;
  readonly indices?: readonly number[];
  readonly idempotencyKey?: string;
}

/** Submits a job whose workspace is stored. Returns the id. */
export async function submitPushed(embedded: Embedded, submission: Submission, options: SubmitPushed): Promise<string> {
  const { workspace } = options;
  if (options.retryOf !== undefined) await requireEarlier(embedded, options.retryOf);
  const command = commandOf(embedded, submission, options);
  const blobs = workspace === null ? {} : { blobs: [workspace.manifest] };
  const key = options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey };
  const answer = await execute(embedded, command, { ...blobs, ...key });
  if (answer.kind !== 'submitted') throw new Error(`a submission was answered with ${answer.kind}`);
  return answer.job;
}

function commandOf(
  embedded: Embedded,
  { spec, source, profile, layers }: Submission,
  { workspace, project, retryOf, indices }: SubmitPushed,
): SubmitJob {
  return {
    kind: 'SubmitJob',
    spec,
    source,
    profile,
    layers,
    workspace,
    project: project ?? 'default',
    owner: embedded.actor.name,
    retryOf: retryOf ?? null,
    indices: indices ?? null,
    ids: drawIds(embedded, spec.name),
  };
}

/** Throws what submitting it now would be refused with, and submits nothing. What is to be pushed is not looked at. */
export function checkSubmission(embedded: Embedded, submission: Submission, { project }: { project: string }): void {
  const { plane, actor } = embedded;
  const command = commandOf(embedded, submission, { workspace: null, project });
  const none = { archivedIds: new Set<string>(), missingBlobs: new Set<string>() };
  const { state } = plane;
  const refused = authorize(state, actor, command, plane.nowMs()) ?? decideSubmitJob(state, command, none);
  if (isRefusal(refused)) throw new RefusalError(refused);
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
  const job = await requireEarlier(embedded, id);
  return { spec: job.spec, source: job.source, profile: null, layers: [{ origin: job.id, values: job.settings }] };
}
