import type { JobHandle } from '../../client/api.ts';
import type { Outcome } from '../../core/reason.ts';
import type { Context, Invocation } from '../context.ts';
import { exitCodeOfAll } from '../exit-code.ts';
import { endLine } from '../follow/ending.ts';
import { refuseService } from '../request/find-subject.ts';
import { outcomeOf } from '../views/part-view.ts';

/** Waits until all have ended; the exit code is the first that is not zero, in the order given. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const client = await context.client();
  for (const reference of args) await refuseService(client, reference, { verb: 'wait', ours: 'services --watch' });
  const jobs = await Promise.all(args.map((reference) => client.jobs.get(reference)));
  const outcomes = await Promise.all(jobs.map((job) => waitFor(context, job)));
  return exitCodeOfAll(outcomes);
}

async function waitFor(context: Context, job: JobHandle): Promise<Outcome> {
  for await (const seen of job.watch()) {
    const view = job.part === null || seen.outcome !== null ? seen : await job.view();
    const outcome = outcomeOf(view, job.part) ?? view.outcome;
    if (outcome === null) continue;
    context.output.status(endLine({ ...view, outcome }));
    return outcome;
  }
  throw new Error(`${job.id} can no longer be followed, and it has not ended`);
}
