import { jobOfRecord } from '../control/archive.ts';
import type { Job } from '../core/job/job.ts';
import { type JobView, viewJob } from '../core/job/view.ts';
import { fitOnNode, isAllocation } from '../core/placement/fit.ts';
import { whyNotPlaced } from '../core/placement/waiting.ts';
import { mergeSettings } from '../core/profile/settings.ts';
import { closedSecrets } from '../core/secrets/openers.ts';
import type { Submission } from '../wire/submission.ts';
import type { JobFilter, JobHandle, Jobs, Preview } from './api.ts';
import type { Embedded } from './embedded.ts';
import { resolveJob } from './find-job.ts';
import { createJobHandle } from './job-handle.ts';
import { profileLayers } from './profiles.ts';
import { requireSecrets } from './secrets/secrets.ts';
import { viewSettings } from './settings-view.ts';
import { submit } from './submit.ts';

export function createJobs(embedded: Embedded): Jobs {
  return {
    async submit(submission, options = {}): Promise<JobHandle> {
      return createJobHandle(embedded, { id: await submit(embedded, submission, options), part: null });
    },
    preview: (submission) => preview(embedded, submission),
    async get(reference): Promise<JobHandle> {
      return createJobHandle(embedded, await resolveJob(embedded, reference));
    },
    list: (filter) => list(embedded, filter ?? {}),
  };
}

async function preview(embedded: Embedded, submission: Submission): Promise<Preview> {
  await embedded.plane.catchUp();
  const { state } = embedded.plane;
  const { settings, origins } = mergeSettings([...profileLayers(state, submission.profile), ...submission.layers]);
  const { resources, nodes } = settings;
  const work = { spec: submission.spec, project: 'default' };
  requireSecrets(state, work.spec, work.project);
  const closed = closedSecrets(state, work);
  const fitting = [...state.nodes.values()].filter((node) =>
    isAllocation(fitOnNode(node, resources, undefined, closed)),
  );
  return {
    settings: viewSettings(settings, origins),
    spec: submission.source,
    node: fitting.length >= nodes ? (fitting[0]?.name ?? null) : null,
    waiting: fitting.length >= nodes ? null : whyNotPlaced(state, resources, nodes, work),
  };
}

const recentMs = 60 * 60_000;
const defaultLimit = 1000;

async function list({ plane, host }: Embedded, filter: JobFilter): Promise<readonly JobView[]> {
  await plane.catchUp();
  const { project, owner, state: wanted, limit = defaultLimit } = filter;
  const live = [...plane.state.jobs.values()].filter((job) => matches(job, filter));
  const archived = await plane.log.listArchive({
    limit,
    ...(project === undefined ? {} : { project }),
    ...(owner === undefined ? {} : { owner }),
    ...(wanted === undefined ? {} : { state: wanted }),
  });
  const sinceMs = filter.all === true || wanted !== undefined ? 0 : host.clock.wallMs() - recentMs;
  const ended = archived.filter((record) => record.endedAtMs >= sinceMs).map(jobOfRecord);
  const views = [...live, ...ended]
    .sort((a, b) => b.submittedAtMs - a.submittedAtMs || b.order - a.order)
    .map((job) => viewJob(plane.state, job, plane.nowMs(), { full: true }))
    .filter((view) => wanted === undefined || view.state === wanted);
  return views.slice(0, limit);
}

function matches(job: Job, { project, owner }: JobFilter): boolean {
  return (project === undefined || job.project === project) && (owner === undefined || job.owner === owner);
}
