import { type Job, jobState } from '../core/job/job.ts';
import { type JobView, viewJob } from '../core/job/view.ts';
import { whyWaiting } from '../core/placement/waiting.ts';
import type { Waiting } from '../core/reason.ts';
import { refuse } from '../core/refusal.ts';
import type { Explanation, JobHandle, LogOptions } from './api.ts';
import { type Embedded, execute } from './embedded.ts';
import { loadJob } from './find-job.ts';
import { whyHeldUp } from './full-disk.ts';
import { runLocalExec } from './local-exec.ts';
import { followLogs } from './logs.ts';
import { landOutputs, viewOutputs } from './outputs.ts';
import { RefusalError } from './refusal-error.ts';
import { retry } from './retry.ts';
import { viewSettings } from './settings-view.ts';
import { waitForEnd, watchJob } from './watch-job.ts';

export function createJobHandle(embedded: Embedded, reference: { id: string; part: number | null }): JobHandle {
  const { id, part } = reference;
  const { plane } = embedded;
  const handle: JobHandle = {
    id,
    part,
    async view() {
      await plane.catchUp();
      return view(embedded, await requireJob(embedded, id));
    },
    watch: (options) => watchJob(embedded, id, options?.signal),
    wait: (options) => waitForEnd(embedded, id, options?.signal),
    async *logs(options: LogOptions = {}) {
      for await (const chunk of followLogs(embedded, reference, options)) yield chunk.text;
    },
    logChunks: (options) => followLogs(embedded, reference, options ?? {}),
    async stop(options) {
      const job = await requireJob(embedded, id);
      if (job.outcome !== null) return;
      const indices = part === null || job.settings.array === null ? null : [part];
      const graceMs = options?.graceMs ?? null;
      await execute(embedded, { kind: 'StopJob', job: id, indices, by: embedded.actor.name, graceMs });
    },
    async failUnschedulable(message) {
      await execute(embedded, { kind: 'FailUnschedulable', job: id, message, by: embedded.actor.name });
    },
    async retry(options) {
      await plane.catchUp();
      return createJobHandle(embedded, { id: await retry(embedded, reference, options ?? {}), part: null });
    },
    land: (options) => landOutputs(embedded, reference, options),
    outputs: () => viewOutputs(embedded, reference),
    async explain() {
      await plane.catchUp();
      return explain(embedded, await requireJob(embedded, id));
    },
    async heldUp() {
      return whyHeldUp(embedded, await requireJob(embedded, id));
    },
    exec: (options) => runLocalExec(embedded, reference, options),
  };
  return handle;
}

export async function requireJob(embedded: Embedded, id: string): Promise<Job> {
  const job = await loadJob(embedded, id);
  if (job === null)
    throw new RefusalError(refuse('NOT_FOUND', `there is no job ${id}`, { hint: 'yard jobs --all lists them' }));
  return job;
}

function view({ plane }: Embedded, job: Job): JobView {
  return viewJob(plane.state, job, plane.nowMs());
}

/** One sentence: why it waits, where it runs, or how it ended (B10). */
async function explain(embedded: Embedded, job: Job): Promise<Explanation> {
  const { plane } = embedded;
  const settings = viewSettings(job.settings, job.origins);
  const waiting = whyWaiting(plane.state, job, plane.nowMs());
  const nodes = [...job.elements.values()].flatMap((element) =>
    element.kind === 'live' ? element.tasks.map((task) => task.node) : [],
  );
  const where = [...new Set(nodes)].join(', ');
  if (job.outcome !== null) return { sentence: `${job.id} is ${jobState(job)}: ${job.outcome.message}`, settings };
  const heldUp = await whyHeldUp(embedded, job);
  if (heldUp !== null) return { sentence: `${job.id} has its place on ${where} and ${heldUp}`, settings };
  if (waiting === null) return { sentence: `${job.id} runs on ${where}`, settings };
  if (waiting.reason === 'node-lost')
    return { sentence: `${job.id} is ${jobState(job)}: ${waiting.message}`, settings };
  const some = job.live > 0 ? `${job.live} of it runs on ${where}; the rest waits: ` : '';
  return { sentence: `${job.id} is ${jobState(job)}: ${some}${clauseOf(waiting)}`, settings };
}

/** Some reasons are told of the job (`needs 4 GPUs`), and others of what it waits for (`no node is connected`). */
function clauseOf({ message }: Waiting): string {
  return /^(needs|runs|is) /.test(message) ? `it ${message}` : message.replace(/^placed /, 'it is placed ');
}
