import type { RunyardClient } from '../../client/api.ts';
import type { Fact } from '../../core/fact.ts';
import type { SimulationFile } from '../../simulate/file/simulation-file.ts';
import { notePartTime, type PartTimes, pastWork } from '../../simulate/history/past-work.ts';
import type { Plan } from '../../simulate/plan.ts';
import type { Context } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { readSinceMs } from './read-plan.ts';

const mostJobs = 1_000_000;

/** What this control plane has done since then, as far as it has not been pruned: jobs that are alive and the archive. */
export async function readHistory(
  context: Context,
  since: string | undefined,
): Promise<SimulationFile & Pick<Plan, 'title' | 'notes'>> {
  const nowMs = Date.now();
  const sinceMs = since === undefined ? 0 : readSinceMs(since, nowMs);
  const client = await context.client();
  const all = await client.jobs.list({ all: true, limit: mostJobs });
  const views = all.filter(({ submittedAt }) => Date.parse(submittedAt) >= sinceMs);
  const times = views.some(({ array }) => array !== null) ? await timesOfParts(client) : new Map();
  const { startMs, jobs, notes } = pastWork(views, times, nowMs);
  if (jobs.length === 0) {
    const when = since === undefined ? '' : ` since ${new Date(sinceMs).toISOString()}`;
    throw new UsageError(`nothing has run here${when}`, 'yard jobs --all lists what is kept');
  }
  const title = since === undefined ? 'the history kept here' : `the history since ${new Date(sinceMs).toISOString()}`;
  return { title, notes, startMs, untilMs: null, seed: null, nodes: [], work: [], trace: jobs };
}

/** Only the log knows when each part of an array ran. */
async function timesOfParts(client: RunyardClient): Promise<PartTimes> {
  const times = new Map<string, { fromMs: number; toMs: number | null }>();
  for await (const { fact, at } of client.events()) notePartTime(times, fact as Fact, Date.parse(at));
  return times;
}
