import { jobOfRecord } from '../control/archive.ts';
import { type Job, jobState } from '../core/job/job.ts';
import { type JobView, viewJob } from '../core/job/view.ts';
import { fitOnNode, isAllocation } from '../core/placement/fit.ts';
import { heldByQuota, whyNotPlaced } from '../core/placement/waiting.ts';
import { mergeSettings } from '../core/profile/settings.ts';
import { closedSecrets } from '../core/secrets/openers.ts';
import type { Submission } from '../wire/submission.ts';
import type { JobFilter, JobHandle, Jobs, Preview, SubmissionDocument } from './api.ts';
import type { Embedded } from './embedded.ts';
import { resolveJob } from './find-job.ts';
import { createJobHandle } from './job-handle.ts';
import { profileLayers } from './profiles.ts';
import { viewSettings } from './settings-view.ts';
import { checkSubmission, readSubmission, submit } from './submit.ts';
import { listArchiveSeen, requireProject, sees } from './visible.ts';

export function createJobs(embedded: Embedded): Jobs {
  return {
    async submit(submission, options = {}): Promise<JobHandle> {
      return createJobHandle(embedded, { id: await submit(embedded, submission, options), part: null });
    },
    preview: (submission, options) => preview(embedded, submission, options?.project),
    async get(reference): Promise<JobHandle> {
      return createJobHandle(embedded, await resolveJob(embedded, reference));
    },
    list: (filter) => list(embedded, filter ?? {}),
  };
}

/** Whatever submitting it would be refused for is refused here, in the same words. */
async function preview(
  embedded: Embedded,
  given: Submission | SubmissionDocument,
  project = 'default',
): Promise<Preview> {
  const submission = await readSubmission(embedded, given, project);
  const { state } = embedded.plane;
  const { settings, origins } = mergeSettings([...profileLayers(state, submission.profile), ...submission.layers]);
  checkSubmission(embedded, submission, { project });
  const { resources, nodes } = settings;
  const work = { spec: submission.spec, project };
  const closed = closedSecrets(state, work);
  const fitting = [...state.nodes.values()].filter((node) =>
    isAllocation(fitOnNode(node, resources, undefined, closed)),
  );
  const waiting =
    fitting.length >= nodes ? heldByQuota(state, { project, settings }) : whyNotPlaced(state, resources, nodes, work);
  return {
    settings: viewSettings(settings, origins),
    spec: submission.source,
    node: waiting === null ? (fitting[0]?.name ?? null) : null,
    waiting,
  };
}

const recentMs = 60 * 60_000;
const defaultLimit = 1000;
/** As many as one commit can have submitted in the same millisecond. */
const mostAtOnce = 512;

async function list(embedded: Embedded, filter: JobFilter): Promise<readonly JobView[]> {
  return (await listJobs(embedded, filter, null)).views;
}

/** A place in the list of all jobs, which stays what it is while jobs come, end and go. */
export interface JobPosition {
  readonly submittedAtMs: number;
  /** Tells jobs of the same millisecond apart. */
  readonly order: number;
}

/** Jobs behind a position, those submitted last first; `next` is the position of the last one where there are more. */
export async function listJobs(
  embedded: Embedded,
  filter: JobFilter,
  after: JobPosition | null,
): Promise<{ readonly views: readonly JobView[]; readonly next: JobPosition | null }> {
  const { plane, host } = embedded;
  await plane.catchUp();
  const { project, owner, state: wanted, limit = defaultLimit } = filter;
  if (project !== undefined) await requireProject(embedded, project);
  const live = [...plane.state.jobs.values()].filter(
    (job) => matches(job, filter) && sees(embedded, job.project) && (wanted === undefined || jobState(job) === wanted),
  );
  const archived = await listArchiveSeen(embedded, {
    limit: limit + mostAtOnce,
    order: 'submission',
    ...(project === undefined ? {} : { project }),
    ...(owner === undefined ? {} : { owner }),
    ...(wanted === undefined ? {} : { state: wanted }),
    ...(filter.all === true || wanted !== undefined ? {} : { endedSinceMs: host.clock.wallMs() - recentMs }),
    ...(after === null ? {} : { submittedUpToMs: after.submittedAtMs }),
  });
  const sorted = [...live, ...archived.map(jobOfRecord)]
    .filter((job) => after === null || newestFirst(after, job) < 0)
    .sort(newestFirst);
  const page = sorted.slice(0, limit);
  const last = page.at(-1);
  return {
    views: page.map((job) => viewJob(plane.state, job, plane.nowMs(), { full: true })),
    next: last === undefined || sorted.length === page.length ? null : last,
  };
}

function newestFirst(a: JobPosition, b: JobPosition): number {
  return b.submittedAtMs - a.submittedAtMs || b.order - a.order;
}

function matches(job: Job, { project, owner }: JobFilter): boolean {
  return (project === undefined || job.project === project) && (owner === undefined || job.owner === owner);
}
