import { whoOf } from '../control/refusal-audit.ts';
import { authorizeAction, isAdministrator, mayRead, unknownProject } from '../core/access/authorize.ts';
import type { Action } from '../core/access/permissions.ts';
import type { Job } from '../core/job/job.ts';
import type { ArchivedRecord, ArchiveFilter } from '../log/fact-log.ts';
import type { Embedded } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';

/** True when whoever asks may see what belongs to this project. */
export function sees({ plane, actor }: Embedded, project: string): boolean {
  return mayRead(plane.state, actor, project);
}

/** Throws FORBIDDEN for what they may see and not do, and notes it; NOT_FOUND for what they may not see. */
export function allow(embedded: Embedded, action: Action, job?: Pick<Job, 'id' | 'project' | 'owner'>): void {
  const { plane, actor } = embedded;
  const work = job === undefined ? undefined : { ...job, what: `job ${job.id}` };
  const refusal = authorizeAction(plane.state, actor, action, work);
  if (refusal === null) return;
  if (refusal.code === 'FORBIDDEN') {
    plane.auditRefusal({ who: whoOf(actor), action, subject: job?.id ?? null, code: refusal.code });
  }
  throw new RefusalError(refusal);
}

/** Throws NOT_FOUND for a project that they do not see. Of one that was removed, the jobs that are kept may be asked for. */
export async function requireProject(embedded: Embedded, project: string): Promise<void> {
  const { plane, actor } = embedded;
  const isSeen = sees(embedded, project);
  if (isSeen && plane.state.access.projects.has(project)) return;
  if (isSeen && (await plane.log.listArchive({ project, limit: 1 })).length > 0) return;
  throw new RefusalError(unknownProject(plane.state, actor, project));
}

/** Archived jobs that they may see, as many as asked for of each project. */
export async function listArchiveSeen(embedded: Embedded, query: ArchiveFilter): Promise<readonly ArchivedRecord[]> {
  const { plane, actor } = embedded;
  if (isAdministrator(plane.state, actor)) return plane.log.listArchive(query);
  const projects = query.project === undefined ? [...plane.state.access.projects.keys()] : [query.project];
  const seen = projects.filter((project) => sees(embedded, project));
  const lists = await Promise.all(seen.map((project) => plane.log.listArchive({ ...query, project })));
  return lists.flat();
}
