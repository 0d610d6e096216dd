import { parseDurationMs } from '../../core/units.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { refuseService } from '../request/find-subject.ts';
import { UsageError } from '../usage-error.ts';

/** Asks for jobs to be stopped; `yard wait` waits until they have ended. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const grace = textOption(options, 'grace');
  const graceMs = grace === undefined ? undefined : parseDurationMs(grace);
  if (graceMs === null) throw new UsageError(`--grace is ${JSON.stringify(grace)}; expected a duration such as 10s`);
  const client = await context.client();
  for (const reference of args) await refuseService(client, reference, { verb: 'stop', ours: 'services stop' });
  const jobs = await Promise.all(args.map((reference) => client.jobs.get(reference)));
  await Promise.all(jobs.map((job) => job.stop(graceMs === undefined ? {} : { graceMs })));
  for (const job of jobs) {
    const view = await job.view();
    const part = job.part === null ? '' : `/${job.part}`;
    const word = view.outcome === null ? 'stopping' : view.state;
    context.output.item(
      { id: job.id, part: job.part, state: view.state, outcome: view.outcome },
      () => `${job.id}${part}  ${word}${view.outcome === null ? '' : `  ${view.outcome.message}`}`,
    );
    if (view.service !== null && view.outcome === null) {
      context.output.note(`${view.service} replaces it; with fewer replicas: yard services scale ${view.service} N`);
    }
  }
  return 0;
}
