import type { JobHandle, LogChunk, LogOptions } from '../../client/api.ts';
import { parseDurationMs } from '../../core/units.ts';
import { type Context, flagOption, type Invocation, type Options, textOption } from '../context.ts';
import { labelOf } from '../follow/follow.ts';
import { findSubject, type Subject } from '../request/find-subject.ts';
import { UsageError } from '../usage-error.ts';

/** The output of jobs and of all replicas of services, on stdout: that is what was asked for. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const logOptions = readOptions(options, Date.now());
  const client = await context.client();
  const subjects = await Promise.all(args.map((reference) => findSubject(client, reference)));
  const timestamps = flagOption(options, 'timestamps');
  const several = subjects.length > 1;
  const show = (subject: Subject): Promise<void> =>
    subject.kind === 'service'
      ? showChunks(context, subject.service.logChunks(logOptions), { label: ({ task }) => task.job, timestamps })
      : showJob(context, subject.job, { logOptions, timestamps, several });
  if (logOptions.follow === true) await Promise.all(subjects.map(show));
  else for (const subject of subjects) await show(subject);
  return 0;
}

async function showJob(
  context: Context,
  job: JobHandle,
  { logOptions, timestamps, several }: { logOptions: LogOptions; timestamps: boolean; several: boolean },
): Promise<void> {
  const view = await job.view();
  const manyTasks = job.part === null && (view.array !== null || view.settings.nodes > 1);
  const own = several ? `${job.id}${job.part === null ? '' : `/${job.part}`}` : null;
  const label = manyTasks ? (chunk: LogChunk) => labelOf(chunk, view) : () => own;
  await showChunks(context, job.logChunks(logOptions), { label, timestamps });
}

async function showChunks(
  context: Context,
  chunks: AsyncIterable<LogChunk>,
  { label, timestamps }: { label: (chunk: LogChunk) => string | null; timestamps: boolean },
): Promise<void> {
  for await (const chunk of chunks) {
    const { task, step, stream, atMs, text, bytes } = chunk;
    const piece = { job: task.job, label: label(chunk), step, stream, atMs, text, bytes, timestamps };
    context.output.log({ ...piece, target: 'stdout' });
    await context.drained?.();
  }
}

function readOptions(options: Options, nowMs: number): LogOptions {
  const tail = wholeNumber(options, 'tail', '--tail');
  const attempt = wholeNumber(options, 'attempt', '--attempt');
  const sinceMs = readSince(textOption(options, 'since'), nowMs);
  const step = textOption(options, 'step');
  if (step !== undefined && step !== 'setup' && step !== 'run') {
    throw new UsageError(`--step is ${JSON.stringify(step)}; expected setup or run`);
  }
  return {
    follow: flagOption(options, 'follow'),
    ...(tail === null ? {} : { tail }),
    ...(attempt === null ? {} : { attempt }),
    ...(sinceMs === null ? {} : { sinceMs }),
    ...(step === undefined ? {} : { step }),
  };
}

function wholeNumber(options: Options, name: string, shown: string): number | null {
  const typed = textOption(options, name);
  if (typed === undefined) return null;
  if (/^\d{1,9}$/.test(typed)) return Number(typed);
  throw new UsageError(`${shown} is ${JSON.stringify(typed)}; expected a whole number`);
}

/** `10m` ago, or a date as ISO 8601 has it. */
function readSince(typed: string | undefined, nowMs: number): number | null {
  if (typed === undefined) return null;
  const agoMs = parseDurationMs(typed);
  if (agoMs !== null) return nowMs - agoMs;
  const atMs = Date.parse(typed);
  if (!Number.isNaN(atMs)) return atMs;
  throw new UsageError(`--since is ${JSON.stringify(typed)}; expected a duration such as 10m, or a date`);
}
