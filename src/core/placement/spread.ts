import type { Job } from '../job/job.ts';
import type { State } from '../state.ts';
import type { Company } from './ranking.ts';

/** Where the other replicas of a job's service are, those that are stopping included. */
export function companyOf(state: State, job: Job): Company {
  const replicas = new Map<string, number>();
  const service = job.service === null ? undefined : state.services.get(job.service.name);
  if (service === undefined || job.settings.spread === 'none') return { spread: 'none', replicas };
  for (const id of service.replicas.keys()) {
    const element = state.jobs.get(id)?.elements.get(0);
    if (id === job.id || element?.kind !== 'live') continue;
    for (const { node } of element.tasks) replicas.set(node, (replicas.get(node) ?? 0) + 1);
  }
  return { spread: job.settings.spread, replicas };
}
