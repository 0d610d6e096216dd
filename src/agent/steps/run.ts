import { sleep } from '../../host/clock.ts';
import { environmentOf } from '../environment.ts';
import { runProcess } from '../process-step.ts';
import { eventOf } from '../supervision/endings.ts';
import { isSupervised } from '../supervision/probes-of.ts';
import { supervise } from '../supervision/supervise.ts';
import type { StepWork, TaskContext } from '../task-context.ts';

/** Runs the command to its end, or keeps it running where the profile asks for that. */
export const run: StepWork = (context) =>
  isSupervised(context.order.task.settings) ? supervise(context) : runToEnd(context);

/** The exit code is authoritative (S7). */
const runToEnd: StepWork = async (context) => {
  const { attempt, order, port, environment, setupShelf } = context;
  const lastingFolder = await setupShelf.folderFor(order.task, attempt.workdir);
  const env = environmentOf({ attempt, task: order.task, port, lastingFolder, agent: environment });
  const ended = order.task.settings.port && port !== null ? new AbortController() : null;
  try {
    const end = await runProcess(context, 'run', env, () => {
      context.tell({ kind: 'JobStarted', port });
      if (ended !== null && port !== null) void announceEndpoint(context, port, ended.signal);
    });
    if (end?.kind !== 'ended') return end === null ? null : eventOf(end);
    const { exitCode, signal, detail } = end;
    return { kind: 'JobExited', exitCode, signal, detail };
  } finally {
    ended?.abort('ended');
  }
};

const connectEveryMs = 100;

/** Reports the endpoint once the port accepts connections (G2). */
async function announceEndpoint(
  { host, advertise, tell, signal }: TaskContext,
  port: number,
  ended: AbortSignal,
): Promise<void> {
  while (!ended.aborted && !signal.aborted) {
    if (await host.network.canConnect(port, 1000)) {
      if (!ended.aborted && !signal.aborted) tell({ kind: 'EndpointOpened', endpoint: `${advertise}:${port}` });
      return;
    }
    await sleep(host.timers, connectEveryMs, ended);
  }
}
