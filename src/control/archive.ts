import { type Job, jobState } from '../core/job/job.ts';
import { jobFromRecord, jobToRecord } from '../core/records.ts';
import type { ArchivedRecord } from '../log/fact-log.ts';

/** What the archive keeps of a job that left the state: all of it, so that it can be shown and run again. */
export function archiveRecord(job: Job): ArchivedRecord {
  const { id, name, project, owner, submittedAtMs, endedAtMs } = job;
  return {
    id,
    name,
    project,
    owner,
    state: jobState(job),
    submittedAtMs,
    endedAtMs: endedAtMs ?? submittedAtMs,
    record: jobToRecord(job),
  };
}

export function jobOfRecord(record: ArchivedRecord): Job {
  return jobFromRecord(record.record);
}
