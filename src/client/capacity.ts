import { findDevices } from '../agent/devices.ts';
import type { Capacity } from '../core/node/node.ts';
import { refuse } from '../core/refusal.ts';
import type { Host } from '../host/host.ts';
import type { NodeOptions } from './api.ts';
import { RefusalError } from './refusal-error.ts';

/**
 * What the node offers: the machine's own, less the limits a person set. Of cores and memory they may also declare more
 * than there are; more GPUs than were found are refused, since work would wait for them without end.
 */
export async function readCapacity(
  host: Host,
  options: NodeOptions,
): Promise<{ capacity: Capacity; problem: string | null }> {
  const { machine, processes } = host;
  const { gpus: found, problem } = await findDevices(processes, machine.path());
  const wanted = options.gpus ?? found.length;
  if (wanted > found.length) {
    const hint = problem ?? 'nvidia-smi lists them; without --gpus the node offers those that there are';
    throw new RefusalError(
      refuse('WRONG_STATE', `--gpus is ${wanted}, and this machine has ${found.length}`, { hint }),
    );
  }
  const gpus = found.map(({ uuid, index, model, memoryMiB }) => ({ uuid, index, name: model, memoryMiB }));
  return {
    capacity: {
      cpus: options.cpus ?? machine.cpus(),
      memoryMiB: options.memoryMiB ?? machine.memoryMiB(),
      gpus: gpus.slice(0, wanted),
      labels: options.labels ?? {},
    },
    problem,
  };
}

const longestName = 50;

/** The host's name as a node name. */
export function defaultNodeName(host: Pick<Host, 'machine'>): string {
  const [short] = host.machine.hostname().toLowerCase().split('.');
  const name = (short ?? '')
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, longestName);
  return name === '' ? 'node' : name;
}
