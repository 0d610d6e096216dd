import { type Job, jobState } from '../core/job/job.ts';
import { isSuccess } from '../core/reason.ts';
import { isRefusal, refuse } from '../core/refusal.ts';
import type { Embedded } from './embedded.ts';
import { loadJob } from './find-job.ts';
import { RefusalError } from './refusal-error.ts';
import { submissionOf, submit } from './submit.ts';

/**
 * A new job with the spec and the bytes of an ended one; with `failed`, of its failed indices only. Of one that waits for
 * its lost node, the next attempt. Returns the id.
 */
export async function retry(
  embedded: Embedded,
  reference: { id: string; part: number | null },
  options: { failed?: boolean },
): Promise<string> {
  const job = await loadJob(embedded, reference.id);
  if (job === null) throw new RefusalError(refuse('NOT_FOUND', `there is no job ${reference.id}`));
  if (job.outcome === null) {
    await retryLive(embedded, job, reference.part);
    return job.id;
  }
  if (job.service !== null) throw replicaEnded(job.id, job.service.name);
  const indices = indicesFor(job, reference.part, options.failed === true);
  return submit(embedded, await submissionOf(embedded, job.id), {
    retryOf: job.id,
    workspaceOf: job.id,
    project: job.project,
    ...(indices === null ? {} : { indices }),
  });
}

/** As a job of its own it would be no replica: nobody would scale, update or remove it with the others. */
function replicaEnded(id: string, service: string): RefusalError {
  const hint = `what takes its place: yard services ${service}; all anew: yard services restart ${service}`;
  return new RefusalError(refuse('WRONG_STATE', `${id} was a replica of service ${service}`, { hint }));
}

async function retryLive(embedded: Embedded, job: Job, part: number | null): Promise<void> {
  const command = { kind: 'RetryTask', job: job.id, index: part, by: embedded.actor.name } as const;
  const answer = await embedded.plane.execute(command, { actor: embedded.actor });
  if (!isRefusal(answer)) return;
  if (answer.code !== 'WRONG_STATE') throw new RefusalError(answer);
  const hint = `wait for its end, or stop it: yard stop ${job.id}`;
  throw new RefusalError(
    refuse('WRONG_STATE', `${job.id} is ${jobState(job)}: only an ended job can be run again`, { hint }),
  );
}

function indicesFor(job: Job, part: number | null, failedOnly: boolean): readonly number[] | null {
  if (job.settings.array === null) {
    if (failedOnly)
      throw new RefusalError(
        refuse('WRONG_STATE', `${job.id} is no array: it has no failed indices`, { hint: `yard retry ${job.id}` }),
      );
    return null;
  }
  if (part !== null) {
    if (!job.elements.has(part)) throw new RefusalError(refuse('NOT_FOUND', `${job.id} has no index ${part}`));
    return [part];
  }
  if (!failedOnly) return job.indices;
  const failed = [...job.elements]
    .filter(([, element]) => element.kind === 'ended' && !isSuccess(element.outcome))
    .map(([index]) => index);
  if (failed.length === 0) throw new RefusalError(refuse('WRONG_STATE', `no index of ${job.id} failed`));
  return failed.sort((a, b) => a - b);
}
