import type { JobFilter, RunyardClient } from '../../client/api.ts';
import { type Context, flagOption, type Invocation, type Options, textOption } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { jobInFull } from '../views/job-in-full.ts';
import { jobsTable } from '../views/jobs-table.ts';
import { partView } from '../views/part-view.ts';

const states = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED'] as const;
const clearScreen = '\x1b[H\x1b[2J';

/** Lists jobs, or shows one in full; with `--watch` again after every change. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [reference] = args;
  const show = () =>
    reference === undefined ? showList(context, client, options) : showOne(context, client, reference);
  await show();
  if (!flagOption(options, 'watch')) return 0;
  const end = new AbortController();
  const release = context.onSignal('SIGINT', () => end.abort());
  try {
    const seen = (await lastSeq(client)) ?? 0;
    for await (const event of client.events({ follow: true, signal: end.signal })) {
      if (event.seq <= seen) continue;
      if (context.output.kind === 'terminal') process.stdout.write(clearScreen);
      await show();
    }
  } finally {
    release();
  }
  return 0;
}

async function lastSeq(client: RunyardClient): Promise<number | null> {
  let last: number | null = null;
  for await (const { seq } of client.events()) last = seq;
  return last;
}

async function showList(context: Context, client: RunyardClient, options: Options): Promise<void> {
  const jobs = await client.jobs.list(await filterOf(client, options));
  context.output.answer(jobs, (width) => (jobs.length === 0 ? noJobs(options) : jobsTable(jobs, Date.now(), width)));
}

function noJobs(options: Options): string {
  return flagOption(options, 'all') ? 'no jobs' : 'no jobs now (yard jobs --all shows those that ended long ago)';
}

async function showOne(context: Context, client: RunyardClient, reference: string): Promise<void> {
  const job = await client.jobs.get(reference);
  const { part } = job;
  const view = part === null ? await job.view() : partView(await job.view(), part);
  context.output.answer(view, (width) => jobInFull(view, Date.now(), width, part));
}

async function filterOf(client: RunyardClient, options: Options): Promise<JobFilter> {
  const typed = textOption(options, 'state');
  const state = states.find((one) => one === typed?.toUpperCase());
  if (typed !== undefined && state === undefined) {
    throw new UsageError(`--state is ${JSON.stringify(typed)}; expected one of ${states.join(', ')}`);
  }
  const owner = flagOption(options, 'mine') ? (await client.whoAmI()).name : textOption(options, 'user');
  const project = textOption(options, 'project');
  return {
    all: flagOption(options, 'all'),
    ...(state === undefined ? {} : { state }),
    ...(owner === undefined ? {} : { owner }),
    ...(project === undefined ? {} : { project }),
  };
}
