import { checkSpec } from '../../core/job/check-spec.ts';
import type { JobView } from '../../core/job/view.ts';
import { parseJobDocument } from '../../wire/parse-document.ts';
import type { Submission } from '../../wire/submission.ts';
import type { JobFilter, JobHandle, Jobs, SubmissionDocument, SubmitOptions } from '../api.ts';
import { isSubmission, withDocumentRefusals } from '../document-refusals.ts';
import { pushWorkspace } from '../push-workspace.ts';
import { RefusalError } from '../refusal-error.ts';
import { preparedOf } from './prepared-body.ts';
import type { Remote } from './remote.ts';
import { createRemoteJob } from './remote-job.ts';
import { requireSecrets } from './remote-secrets.ts';

export function createRemoteJobs(remote: Remote): Jobs {
  const { http } = remote;
  return {
    async submit(submission, options = {}): Promise<JobHandle> {
      return createRemoteJob(remote, { id: await submit(remote, submission, options), part: null });
    },
    preview: (given, options = {}) =>
      http.call('previewJob', { body: { submission: preparedOf(readHere(given)), ...options } }),
    async get(reference): Promise<JobHandle> {
      return createRemoteJob(remote, await http.call('resolveJob', { query: { reference } }));
    },
    list: (filter = {}) => list(remote, filter),
  };
}

/** Reads and checks here, where the file is; pushes the workspace's missing bytes; then submits. Returns the id. */
async function submit(
  remote: Remote,
  given: Submission | SubmissionDocument,
  options: Partial<SubmitOptions>,
): Promise<string> {
  const submission = readHere(given);
  const wrong = checkSpec(submission.spec);
  if (wrong !== null) throw new RefusalError(wrong);
  await requireSecrets(remote, submission.spec, options.project);
  const { workspaceOf, project, retryOf, indices, idempotencyKey } = options;
  const workspace = workspaceOf === undefined ? await pushWorkspace(remote, submission.spec, options) : null;
  const { id } = await remote.http.call('submitJob', {
    idempotencyKey,
    body: {
      submission: preparedOf(submission),
      ...(workspace === null ? {} : { workspace }),
      ...(workspaceOf === undefined ? {} : { workspaceOf }),
      ...(project === undefined ? {} : { project }),
      ...(retryOf === undefined ? {} : { retryOf }),
      ...(indices === undefined ? {} : { indices: [...indices] }),
    },
  });
  return id;
}

function readHere(given: Submission | SubmissionDocument): Submission {
  return isSubmission(given) ? given : withDocumentRefusals(() => parseJobDocument(given, { origin: 'submission' }));
}

const pageSize = 500;

/** Page by page, to the number that was asked for. */
async function list({ http }: Remote, filter: JobFilter): Promise<readonly JobView[]> {
  const { all, state, owner, project, limit = 1000 } = filter;
  const query = {
    ...(all === undefined ? {} : { all }),
    ...(state === undefined ? {} : { state }),
    ...(owner === undefined ? {} : { owner }),
    ...(project === undefined ? {} : { project }),
  };
  const jobs: JobView[] = [];
  let cursor: string | null = null;
  do {
    const from: { cursor?: string } = cursor === null ? {} : { cursor };
    const wanted = Math.min(pageSize, limit - jobs.length);
    const page = await http.call('listJobs', { query: { ...query, limit: wanted, ...from } });
    jobs.push(...page.items);
    cursor = page.next;
  } while (cursor !== null && jobs.length < limit);
  return jobs.slice(0, limit);
}
