import { resolve } from 'node:path';
import type { JobHandle, RunyardClient } from '../../client/api.ts';
import type { Context, Invocation } from '../context.ts';
import { flagOption, textOption } from '../context.ts';
import { follow } from '../follow/follow.ts';
import { type HeldNode, type Interrupts, watchInterrupts } from '../follow/interrupts.ts';
import { bringNode, type OwnNode } from '../follow/own-node.ts';
import { showPush } from '../follow/push-line.ts';
import { checkLanding } from '../request/check-landing.ts';
import { noteDoubts } from '../request/note-doubts.ts';
import { showPreview } from '../request/preview.ts';
import { type JobRequest, readRequest } from '../request/read-request.ts';

/** Submits, follows, brings outputs home and ends with the job's own code. Brings a node where none runs. */
export async function execute(context: Context, invocation: Invocation): Promise<number> {
  const request = await readRequest(context, 'run', invocation);
  const client = await context.client();
  if (flagOption(invocation.options, 'dryRun')) return showPreview(context, client, request);
  if (request.submission.spec.outputs.length > 0) await checkLanding(landingOf(context, invocation));
  const bringing = bringNode(client);
  // Its failure is looked at below; until then the push goes on.
  bringing.catch(() => {});
  let interrupts: Interrupts | null = null;
  let own: OwnNode | null = null;
  // Until it is known who serves the node, a lost terminal stops the job.
  const held: HeldNode = {
    isOurs: () => own?.isOurs() !== false,
    endTasks: async (job, options) => (await own?.endTasks(job, options)) ?? true,
  };
  const arm = (): Interrupts => (interrupts ??= watchInterrupts(context, held));
  try {
    const job = await submitRequest(context, client, { request, invocation, onPushed: arm });
    own = await bringing;
    const to = textOption(invocation.options, 'to') ?? null;
    return await follow(context, client, job, { interrupts: arm(), own, to, sinceMs: null });
  } finally {
    arm().end();
    await (own ?? (await bringing.catch(() => null)))?.close();
  }
}

/** Pushes and submits. `onPushed` is called when only the submission itself is left. */
export async function submitRequest(
  context: Context,
  client: RunyardClient,
  { request, invocation, onPushed }: { request: JobRequest; invocation: Invocation; onPushed: () => void },
): Promise<JobHandle> {
  const { submission, baseDirectory, workspaceOf, limitWorkspace } = request;
  await noteDoubts(context.output, submission, workspaceOf === null ? baseDirectory : null);
  const push = showPush(context.output);
  const project = textOption(invocation.options, 'project');
  if (submission.spec.workspace === null) onPushed();
  const job = await client.jobs.submit(submission, {
    baseDirectory,
    limitWorkspace,
    landing: landingOf(context, invocation),
    onPush: (progress) => {
      push.see(progress);
      if (progress.phase === 'done') onPushed();
    },
    ...(workspaceOf === null ? {} : { workspaceOf }),
    ...(project === undefined ? {} : { project }),
  });
  push.end(job.id);
  return job;
}

/** Absolute; outputs land in it or below. */
function landingOf(context: Context, { options }: Invocation): string {
  return resolve(context.cwd, textOption(options, 'to') ?? 'outputs');
}
