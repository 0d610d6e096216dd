import type { Order } from '../core/node/orders.ts';
import type { Host } from '../host/host.ts';
import { attemptOf, readPort } from './attempt.ts';
import { noteCompany } from './company.ts';
import { environmentOf } from './environment.ts';
import { type OpenedSecrets, openKept, readKeptSecrets } from './secrets/kept-secrets.ts';
import type { Sealing } from './secrets/sealing.ts';
import { createSetupShelf } from './setup-shelf.ts';

/** How a command runs beside a task: where the task runs, with what the task has. */
export interface Beside {
  readonly workdir: string;
  /** Without secrets: whoever prints it prints none. */
  readonly env: Readonly<Record<string, string>>;
  /** The variables that hold secrets, as the task itself was started with, opened when the command starts. */
  openSecrets(): Promise<OpenedSecrets>;
}

export interface BesidePlace {
  readonly host: Host;
  /** The node's own directory. */
  readonly directory: string;
  readonly node: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Asked for only where the task has secrets; null where the node has no key. */
  readonly sealing: () => Promise<Sealing | null>;
}

/** Null when the task has no directory (any more). */
export async function planBeside(place: BesidePlace, order: Order): Promise<Beside | null> {
  const { host, directory, node, environment } = place;
  const attempt = attemptOf(directory, node, order.key);
  if ((await host.files.stat(attempt.workdir)) === null) return null;
  await noteCompany(host.files, attempt);
  const lastingFolder = await createSetupShelf(host, `${directory}/setups`).folderFor(order.task, attempt.workdir);
  const port = await readPort(host.files, attempt);
  return {
    workdir: attempt.workdir,
    env: environmentOf({ attempt, task: order.task, port, lastingFolder, agent: environment }),
    async openSecrets() {
      const kept = await readKeptSecrets(host.files, attempt);
      return openKept(kept.length === 0 ? null : await place.sealing(), kept);
    },
  };
}
