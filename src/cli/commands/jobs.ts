import type { JobFilter, RunyardClient } from '../../client/api.ts';
import { type Context, flagOption, type Invocation, type Options, textOption } from '../context.ts';
import { showAgain } from '../follow/show-again.ts';
import type { Answer } from '../output/output.ts';
import { UsageError } from '../usage-error.ts';
import { jobInFull } from '../views/job-in-full.ts';
import { jobsTable } from '../views/jobs-table.ts';
import { partView } from '../views/part-view.ts';

const states = ['PENDING', 'RUNNING', 'COMPLETED', 'FAILED'] as const;

/** Lists jobs, or shows one in full; with `--watch` again after every change. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [reference] = args;
  const watches = flagOption(options, 'watch');
  const answer = watches ? context.output.answerAgain : context.output.answer;
  const show = () => (reference === undefined ? showList(answer, client, options) : showOne(answer, client, reference));
  if (watches) return showAgain(context, client, show);
  await show();
  return 0;
}

async function showList(answer: Answer, client: RunyardClient, options: Options): Promise<void> {
  const jobs = await client.jobs.list(await filterOf(client, options));
  answer(jobs, (width) => (jobs.length === 0 ? noJobs(options) : jobsTable(jobs, Date.now(), width)));
}

function noJobs(options: Options): string {
  return flagOption(options, 'all') ? 'no jobs' : 'no jobs now (yard jobs --all shows those that ended long ago)';
}

async function showOne(answer: Answer, client: RunyardClient, reference: string): Promise<void> {
  const job = await client.jobs.get(reference);
  const { part } = job;
  const view = part === null ? await job.view() : partView(await job.view(), part);
  answer(view, (width) => jobInFull(view, Date.now(), width, part));
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
