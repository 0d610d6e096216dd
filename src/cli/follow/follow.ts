import { relative, resolve } from 'node:path';
import type { JobHandle, LogChunk, RunyardClient } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import type { JobView } from '../../core/job/view.ts';
import type { Context } from '../context.ts';
import { exitCodeOf, notItsOwn } from '../exit-code.ts';
import { reportOf } from '../report-error.ts';
import { outcomeOf } from '../views/part-view.ts';
import { endLine, outputsLine } from './ending.ts';
import type { Interrupts } from './interrupts.ts';
import { createNarrator, type Narrator } from './narrator.ts';
import type { OwnNode } from './own-node.ts';

export interface FollowOptions {
  readonly interrupts: Interrupts;
  /** Null where the command did not bring one. */
  readonly own: OwnNode | null;
  /** Where outputs land; null for `outputs/<id>` below the current directory. */
  readonly to: string | null;
  /** Only what is written after this moment, wall clock; null for all. */
  readonly sinceMs: number | null;
}

/** Follows a job to its end, brings its outputs home and returns the exit code of the command. */
export async function follow(
  context: Context,
  client: RunyardClient,
  job: JobHandle,
  options: FollowOptions,
): Promise<number> {
  const { interrupts, own } = options;
  const first = await job.view();
  interrupts.attach(job, first);
  const canDetach = own === null || !own.isOurs();
  const setupLog = createLatch(longestLagMs);
  const narrator = createNarrator({
    output: context.output,
    hint:
      context.output.kind === 'terminal' ? (canDetach ? 'Ctrl-C stops it, Ctrl-\\ detaches' : 'Ctrl-C stops it') : null,
    nodeOf: (name) => client.nodes.get(name).catch(() => null),
    setupShown: setupLog.passed,
    nowMs: () => performance.now(),
  });
  const endHeldUp = tellHeldUp(context, job);
  // What is followed is let go of however this ends: a watch that is left open keeps the process alive.
  const over = new AbortController();
  const signal = AbortSignal.any([interrupts.detached, over.signal]);
  const following = Promise.all([
    watchStates(client, job, narrator, { own, signal }),
    streamLogs(context, job, { narrator, first, setupLogRead: setupLog.open, sinceMs: options.sinceMs, signal }),
  ]);
  try {
    await Promise.race([following, interrupts.fault, ...(own === null ? [] : [own.fault])]);
  } finally {
    over.abort();
    endHeldUp();
    narrator.end();
  }
  if (interrupts.detached.aborted) {
    context.output.note(`${job.id}  detached; it goes on: yard attach ${job.id}`);
    return 0;
  }
  return finish(context, job, options.to);
}

const lookHeldUpMs = 3000;

/** Says once, and again when it changed, why a job that has its node does not start. Returns how to end that. */
function tellHeldUp(context: Context, job: JobHandle): () => void {
  let said = '';
  let isLooking = false;
  const look = async (): Promise<void> => {
    // A server that is away answers one look late, and must not find a queue of them when it is back.
    if (isLooking) return;
    isLooking = true;
    const why = await job.heldUp().finally(() => {
      isLooking = false;
    });
    // The room that is left changes all the time: only the reason counts.
    const reason = why?.replaceAll(/[\d.]+/g, '') ?? '';
    if (why !== null && reason !== said) context.output.note(`${job.id}  ${why}`);
    said = reason;
  };
  // A look that fails tells nothing more than following does, which fails as well then.
  const timer = setInterval(() => void look().catch(() => {}), lookHeldUpMs);
  timer.unref();
  return () => clearInterval(timer);
}

async function watchStates(
  client: RunyardClient,
  job: JobHandle,
  narrator: Narrator,
  { own, signal }: { readonly own: OwnNode | null; readonly signal: AbortSignal },
): Promise<void> {
  let asked = false;
  for await (const view of job.watch({ signal })) {
    await narrator.see(view);
    if (asked || own === null || !own.isOurs()) continue;
    if (view.state === 'PENDING' && view.waiting?.reason === 'no-fit') {
      asked = (await client.nodes.list()).filter((node) => node.agentRunning).length <= 1;
      if (asked) await job.failUnschedulable(view.waiting.message);
    }
  }
}

async function streamLogs(
  context: Context,
  job: JobHandle,
  options: {
    readonly sinceMs: number | null;
    readonly signal: AbortSignal;
    readonly narrator: Narrator;
    readonly first: JobView;
    /** Called when nothing more of setup can come. */
    readonly setupLogRead: () => void;
  },
): Promise<void> {
  const { narrator, first, sinceMs, signal } = options;
  const several = job.part === null && (first.array !== null || first.settings.nodes > 1);
  let step = '';
  const logOptions = { follow: true, signal, ...(sinceMs === null ? {} : { sinceMs }) };
  for await (const chunk of job.logChunks(logOptions)) {
    // What run prints comes after the line that says where it runs; that of setup comes after what setup printed.
    if (chunk.step === 'run' && step !== 'run') {
      options.setupLogRead();
      await narrator.see(await job.view());
    }
    step = chunk.step;
    context.output.log({
      job: job.id,
      label: several ? labelOf(chunk, first) : null,
      step: chunk.step,
      stream: chunk.stream,
      atMs: chunk.atMs,
      text: chunk.text,
      bytes: chunk.bytes,
      timestamps: false,
      target: chunk.step === 'run' && chunk.stream === 'stdout' ? 'stdout' : 'stderr',
    });
    await context.drained?.();
  }
  options.setupLogRead();
}

/** What a step printed is read a little after the step has ended; this long at most. */
const longestLagMs = 300;

/** A gate that opens by itself after a while. */
function createLatch(longestMs: number): { readonly open: () => void; readonly passed: () => Promise<void> } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const passed = async (): Promise<void> => {
    const timer = setTimeout(open, longestMs);
    await opened;
    clearTimeout(timer);
  };
  return { open: () => open(), passed };
}

/** `sweep-p0w4aa/7`: how that one is addressed. */
export function labelOf({ task }: LogChunk, view: JobView): string {
  return `${task.job}/${view.array === null ? task.rank : task.index}`;
}

async function finish(context: Context, job: JobHandle, to: string | null): Promise<number> {
  const view = await job.view();
  const outcome = outcomeOf(view, job.part);
  if (outcome === null) throw new Error(`${job.id} is ${view.state}, and yet nothing is left to follow`);
  const notLanded = view.outputs.length === 0 ? null : await land(context, job, to);
  context.output.status(endLine(job.part === null ? view : { ...view, outcome }));
  const code = exitCodeOf(outcome);
  if (notLanded === null) return code;
  context.output.error({ ...reportOf(notLanded, context.home), hint: `yard outputs ${job.id} --to DIR` });
  return code === 0 ? notItsOwn : code;
}

/** Brings outputs home. Returns why they could not be: the job has ended as it has all the same. */
async function land(context: Context, job: JobHandle, to: string | null): Promise<RefusalError | null> {
  const directory = to ?? `outputs/${job.id}`;
  try {
    const landed = await job.land({ to: resolve(context.cwd, directory) });
    const shown = to ?? (relative(context.cwd, resolve(context.cwd, directory)) || '.');
    context.output.status(outputsLine(job.id, landed, shown));
    return null;
  } catch (error) {
    if (error instanceof RefusalError) return error;
    throw error;
  }
}
