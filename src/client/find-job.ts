import { jobOfRecord } from '../control/archive.ts';
import { elementCount, indexAt, type Job } from '../core/job/job.ts';
import { parseJobReference } from '../core/job/job-id.ts';
import { refuse } from '../core/refusal.ts';
import type { Embedded } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';
import { listArchiveSeen, sees } from './visible.ts';

/** A job by its id, wherever it is now; null when there is none that whoever asks may see. */
export async function loadJob(embedded: Embedded, id: string): Promise<Job | null> {
  const job = embedded.plane.state.jobs.get(id) ?? (await loadArchived(embedded, id));
  return job !== null && sees(embedded, job.project) ? job : null;
}

async function loadArchived({ plane }: Embedded, id: string): Promise<Job | null> {
  const record = await plane.log.archived(id);
  return record === null ? null : jobOfRecord(record);
}

/** What a person means by `ID`, `ID/N`, a unique prefix, or a name (its latest). A part that there is not is refused. */
export async function resolveJob(embedded: Embedded, text: string): Promise<{ id: string; part: number | null }> {
  const found = await resolveReference(embedded, text);
  const job = found.part === null ? null : await loadJob(embedded, found.id);
  if (job !== null) requirePart(job, found.part);
  return found;
}

/** Refuses an index that the array has not, and a rank that the job has not. */
export function requirePart(job: Job, part: number | null): void {
  if (part === null) return;
  const isArray = job.settings.array !== null;
  const count = isArray ? elementCount(job) : job.settings.nodes;
  const exists = isArray && job.indices !== null ? job.indices.includes(part) : part < count;
  if (exists) return;
  const [first, last] = isArray ? [indexAt(job, 0), indexAt(job, count - 1)] : [0, count - 1];
  const what = count === 1 ? `its only one is ${job.id}/${first}` : `it has ${count}, ${first} to ${last}`;
  throw new RefusalError(
    refuse('NOT_FOUND', `${job.id} has no ${isArray ? 'index' : 'rank'} ${part}`, {
      hint: `${what}: yard jobs ${job.id}`,
    }),
  );
}

async function resolveReference(embedded: Embedded, text: string): Promise<{ id: string; part: number | null }> {
  const reference = parseJobReference(text);
  if (reference === null) {
    throw new RefusalError(
      refuse('BAD_VALUE', `${JSON.stringify(text)} is not a job id`, { hint: 'yard jobs lists them' }),
    );
  }
  await embedded.plane.catchUp();
  const { job: wanted, part } = reference;
  if ((await loadJob(embedded, wanted)) !== null) return { id: wanted, part };
  const candidates = await findCandidates(embedded, wanted);
  const named = candidates.filter((one) => one.name === wanted).sort((a, b) => b.submittedAtMs - a.submittedAtMs);
  if (named[0] !== undefined) return { id: named[0].id, part };
  if (candidates.length === 1 && candidates[0] !== undefined) return { id: candidates[0].id, part };
  if (candidates.length === 0)
    throw new RefusalError(refuse('NOT_FOUND', `there is no job ${wanted}`, { hint: 'yard jobs --all lists them' }));
  const ids = candidates
    .map(({ id }) => id)
    .slice(0, 5)
    .join(', ');
  throw new RefusalError(refuse('AMBIGUOUS', `${wanted} fits several jobs: ${ids}`, { hint: 'write more of the id' }));
}

interface Candidate {
  readonly id: string;
  readonly name: string;
  readonly submittedAtMs: number;
}

async function findCandidates(embedded: Embedded, wanted: string): Promise<readonly Candidate[]> {
  const live = [...embedded.plane.state.jobs.values()].filter(
    (job) => (job.name === wanted || job.id.startsWith(wanted)) && sees(embedded, job.project),
  );
  const byName = await listArchiveSeen(embedded, { name: wanted, limit: 1 });
  const byPrefix = await listArchiveSeen(embedded, { idPrefix: wanted, limit: 6 });
  const all = new Map<string, Candidate>();
  for (const { id, name, submittedAtMs } of [...live, ...byName, ...byPrefix]) all.set(id, { id, name, submittedAtMs });
  return [...all.values()];
}
