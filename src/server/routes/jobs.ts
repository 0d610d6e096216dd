import type { JobHandle } from '../../client/api.ts';
import { resolveJob } from '../../client/find-job.ts';
import { createJobHandle } from '../../client/job-handle.ts';
import { createJobs, type JobPosition, listJobs } from '../../client/jobs.ts';
import { outputTrees } from '../../client/outputs.ts';
import { readSubmission, submitPushed, workspaceOfJob } from '../../client/submit.ts';
import { watchJob } from '../../client/watch-job.ts';
import type { jobRoutes } from '../../wire/http/routes-jobs.ts';
import { readCursor, writeCursor } from '../cursor.ts';
import { streamEvents } from '../event-places.ts';
import type { Asked, HandlersOf } from '../handler.ts';
import { streamJobLogs } from '../log-stream.ts';
import { statesOf } from '../state-stream.ts';
import { storedWorkspace } from '../stored-workspace.ts';

const mostJobs = 1000;

export const jobHandlers = {
  async listJobs({ query, embedded }) {
    const { limit = mostJobs, cursor, ...filter } = query;
    const after = cursor === undefined ? null : readCursor<JobPosition>(cursor, ['submittedAtMs', 'order']);
    const bounded = { ...filter, limit: Math.min(limit, mostJobs) };
    const { views, next } = await listJobs(embedded, bounded, after);
    return { items: views, next: next === null ? null : writeCursor(next, ['submittedAtMs', 'order']) };
  },
  async submitJob({ body, embedded }) {
    const { submission: given, workspaceOf, project, ...options } = body;
    const submission = await readSubmission(embedded, given, project);
    const workspace =
      workspaceOf === undefined
        ? await storedWorkspace(embedded, submission.spec, body.workspace ?? null)
        : await workspaceOfJob(embedded, workspaceOf);
    const inProject = project === undefined ? {} : { project };
    return { id: await submitPushed(embedded, submission, { ...options, ...inProject, workspace }) };
  },
  previewJob: ({ body, embedded }) =>
    createJobs(embedded).preview(body.submission, body.project === undefined ? {} : { project: body.project }),
  resolveJob: ({ query, embedded }) => resolveJob(embedded, query.reference),
  async getJob(asked) {
    return (await jobOf(asked)).view();
  },
  async watchJob({ params, embedded, signal }) {
    const { id } = await resolveJob(embedded, params.id);
    return statesOf(watchJob(embedded, id, signal));
  },
  async stopJob(asked) {
    await (await jobOf(asked)).stop(asked.body);
  },
  async failUnschedulable(asked) {
    await (await jobOf(asked)).failUnschedulable(asked.body.message);
  },
  async retryJob(asked) {
    const { id, part } = await (await jobOf(asked)).retry(asked.body);
    return { id, part };
  },
  async jobLogs({ params, query, embedded, signal, lastEventId }) {
    const { part, ...options } = query;
    const reference = await referenceOf(embedded, params.id, part);
    return streamJobLogs(embedded, reference, { ...options, signal }, lastEventId);
  },
  async jobOutputs(asked) {
    return { items: await (await jobOf(asked)).outputs() };
  },
  async jobOutputTrees({ params, query, embedded }) {
    return { items: await outputTrees(embedded, await referenceOf(embedded, params.id, query.part)) };
  },
  async jobEvents({ params, query, embedded, signal, lastEventId }) {
    const { id } = await resolveJob(embedded, params.id);
    return streamEvents(embedded, { job: id, ...query, signal }, lastEventId);
  },
  async explainJob(asked) {
    const job = await jobOf(asked);
    return { ...(await job.explain()), heldUp: await job.heldUp() };
  },
} satisfies HandlersOf<typeof jobRoutes>;

type OfJob = Pick<Asked<typeof jobRoutes.stopJob>, 'params' | 'embedded'> & { readonly query: { part?: number } };

async function jobOf({ params, query, embedded }: OfJob): Promise<JobHandle> {
  return createJobHandle(embedded, await referenceOf(embedded, params.id, query.part));
}

/** `?part=N` wins over what the reference itself says. */
async function referenceOf(
  embedded: OfJob['embedded'],
  reference: string,
  part: number | undefined,
): Promise<{ id: string; part: number | null }> {
  const found = await resolveJob(embedded, reference);
  return part === undefined ? found : resolveJob(embedded, `${found.id}/${part}`);
}
