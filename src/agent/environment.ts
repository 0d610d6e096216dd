import type { TaskOrder } from '../core/node/orders.ts';
import type { Attempt } from './attempt.ts';
import { deviceEnvironment } from './devices.ts';
import { buildTaskEnvironment } from './task-environment.ts';

/** The environment of an attempt's setup, run and exec: the same in all three. */
export function environmentOf(given: {
  readonly attempt: Attempt;
  readonly task: TaskOrder;
  readonly port: number | null;
  readonly lastingFolder: string | null;
  readonly agent: Readonly<Record<string, string | undefined>>;
}): Record<string, string> {
  const { attempt, task, port } = given;
  const { key } = attempt;
  const { nodes } = task.settings;
  return buildTaskEnvironment({
    agent: given.agent,
    job: key.job,
    attempt: key.attempt,
    workdir: attempt.workdir,
    mark: attempt.mark,
    lastingFolder: given.lastingFolder,
    array: task.count === null ? null : { index: key.index, count: task.count },
    ranks:
      nodes > 1 && task.rendezvous !== null
        ? { rank: key.rank, worldSize: nodes, masterAddress: task.rendezvous.address, masterPort: task.rendezvous.port }
        : null,
    port: task.settings.port ? port : null,
    devices: deviceEnvironment(task.devices),
    spec: plainValues(task.spec.env),
  });
}

/** Secrets are resolved on the node; a value that still is a reference here has no value (U7). */
function plainValues(env: TaskOrder['spec']['env']): Record<string, string> {
  const plain: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) if (typeof value === 'string') plain[name] = value;
  return plain;
}
