import type { TaskEvent } from '../../core/job/facts.ts';
import { readFailedLine } from '../command.ts';
import { environmentOf } from '../environment.ts';
import { runProcess } from '../process-step.ts';
import type { StepWork, TaskContext } from '../task-context.ts';

/** Runs the setup command, unless one like it has completed on this node and may be used again. */
export const setup: StepWork = async (context) => {
  const { attempt, order, setupShelf } = context;
  const folder = await setupShelf.folderFor(order.task, attempt.workdir);
  if (folder === null) return runSetup(context, null);
  const giveOn = await setupShelf.takeTurn(folder);
  try {
    if (await setupShelf.isDone(folder)) return { kind: 'SetupCompleted', reused: true };
    const event = await runSetup(context, folder);
    if (event?.kind === 'SetupCompleted') await setupShelf.markDone(folder);
    return event;
  } finally {
    giveOn();
  }
};

async function runSetup(context: TaskContext, lastingFolder: string | null): Promise<TaskEvent | null> {
  const { host, attempt, order, port, environment } = context;
  const env = environmentOf({ attempt, task: order.task, port, lastingFolder, agent: environment });
  const end = await runProcess(context, 'setup', env, () => {});
  if (end === null) return null;
  switch (end.kind) {
    case 'timed-out':
      return { kind: 'TimedOut', timeoutMs: end.timeoutMs };
    case 'fault':
      return { kind: 'NodeFault', message: end.message, held: end.held };
    case 'ended': {
      const { exitCode, signal, detail } = end;
      if (exitCode === 0) return { kind: 'SetupCompleted', reused: false };
      const { setup: script } = order.task.spec;
      const failed =
        typeof script === 'string'
          ? await readFailedLine(host.files, attempt.directory, { kind: 'script', text: script, arguments: [] })
          : null;
      const line = failed === null ? null : { number: failed.line, text: failed.text };
      return { kind: 'SetupFailed', exitCode, signal, line, detail };
    }
  }
}
