import { type Beside, planBeside } from '../agent/beside.ts';
import { taskKeyText } from '../core/job/job.ts';
import { orderFor } from '../core/node/orders.ts';
import { refuse } from '../core/refusal.ts';
import type { Embedded } from './embedded.ts';
import { requireJob } from './job-handle.ts';
import { RefusalError } from './refusal-error.ts';
import { openSealing } from './secrets/sealing.ts';
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
  const order = orderFor(plane.state, job, taskKeyText(key));
  const beside =
    order === null
      ? null
      : await planBeside(
          {
            host,
            directory: `${home}/nodes/${task.node}`,
            node: task.node,
            environment: process.env,
            sealing: () => openSealing(home),
          },
          order,
        );
  if (beside === null) {
    throw new RefusalError(
      refuse('WRONG_STATE', `${job.id} does not run: there is nothing to run a command beside`, {
        hint: `yard logs ${job.id}`,
      }),
    );
  }
  return { ...beside, node: task.node, openSecrets: () => openSecrets(beside) };
}

/** What the task's own command was started with. */
async function openSecrets(beside: Beside): Promise<Readonly<Record<string, string>>> {
  const opened = await beside.openSecrets();
  if (opened.kind === 'opened') return opened.env;
  throw new RefusalError(refuse('WRONG_STATE', opened.message, { hint: 'set it again, then run the job again' }));
}
