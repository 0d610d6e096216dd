import { type Attempt, attemptOf, readPort } from '../agent/attempt.ts';
import { environmentOf } from '../agent/environment.ts';
import { openKept, readKeptSecrets } from '../agent/secrets/kept-secrets.ts';
import { createSetupShelf } from '../agent/setup-shelf.ts';
import { taskKeyText } from '../core/job/job.ts';
import { orderFor } from '../core/node/orders.ts';
import { refuse } from '../core/refusal.ts';
import type { Embedded } from './embedded.ts';
import { requireJob } from './job-handle.ts';
import { RefusalError } from './refusal-error.ts';
import { readHomeKey } from './secrets/home-key.ts';
import { sealingOf } from './secrets/sealing.ts';
import { oneTask } from './task-place.ts';
import { allow } from './visible.ts';

interface ExecPlan {
  readonly node: string;
  readonly workdir: string;
  /** Without secrets: whoever prints a plan prints none. */
  readonly env: Readonly<Record<string, string>>;
  /** The variables that hold secrets, opened when the command starts. */
  openSecrets(): Promise<Readonly<Record<string, string>>>;
}

/** The directory and the environment of a live task, for a command to run beside it. */
export async function execPlan(embedded: Embedded, reference: { id: string; part: number | null }): Promise<ExecPlan> {
  const { home, host, plane } = embedded;
  await plane.catchUp();
  const job = await requireJob(embedded, reference.id);
  allow(embedded, 'exec', job);
  const { key, task } = oneTask(job, reference.part);
  const nodeDirectory = `${home}/nodes/${task.node}`;
  const attempt = attemptOf(nodeDirectory, task.node, key);
  const order = orderFor(plane.state, job, taskKeyText(key));
  if (order === null || (await host.files.stat(attempt.workdir)) === null) {
    throw new RefusalError(
      refuse('WRONG_STATE', `${job.id} does not run: there is nothing to run a command beside`, {
        hint: `yard logs ${job.id}`,
      }),
    );
  }
  const lastingFolder = await createSetupShelf(host, `${nodeDirectory}/setups`).folderFor(order.task, attempt.workdir);
  const env = environmentOf({
    attempt,
    task: order.task,
    port: await readPort(host.files, attempt),
    lastingFolder,
    agent: process.env,
  });
  return { node: task.node, workdir: attempt.workdir, env, openSecrets: () => openSecrets(embedded, attempt) };
}

/** What the task's own command was started with. */
async function openSecrets({ home, host }: Embedded, attempt: Attempt): Promise<Readonly<Record<string, string>>> {
  const kept = await readKeptSecrets(host.files, attempt);
  const key = kept.length === 0 ? null : await readHomeKey(home);
  const opened = await openKept(key === null ? null : sealingOf(key), kept);
  if (opened.kind === 'opened') return opened.env;
  throw new RefusalError(refuse('WRONG_STATE', opened.message, { hint: 'set it again, then run the job again' }));
}
