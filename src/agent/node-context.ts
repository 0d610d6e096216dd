import type { BlobStore } from '../blobs/blob-store.ts';
import type { Host } from '../host/host.ts';
import { createDiskGuard } from './disk-guard.ts';
import { createExitWatch } from './exit-watch.ts';
import type { LogSink } from './log-sink.ts';
import { createPorts } from './ports.ts';
import { createQuietLogs } from './quiet-logs.ts';
import { nodeSecretsDirectory } from './secrets/node-secrets.ts';
import type { Sealing } from './secrets/sealing.ts';
import { openSecretFiles } from './secrets/secret-files.ts';
import { createSetupShelf } from './setup-shelf.ts';
import { openStartJournal } from './start-journal.ts';
import type { NodeContext } from './task-context.ts';
import { pickBase } from './task-environment.ts';

export interface NodeOptions {
  readonly host: Host;
  readonly store: BlobStore;
  /** The node's own directory; nobody else writes there. */
  readonly directory: string;
  readonly node: string;
  /** Where others reach the ports of its tasks. */
  readonly advertise: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Opens what is sealed to the node; without it the node is given no work that names secrets. */
  readonly sealing?: Sealing;
  /** Where logs are brought; left out where they are read from this disk. */
  readonly logs?: LogSink;
}

/** Makes or opens what all tasks of a node share: its directories, its ports, its journals. */
export async function createNodeContext(options: NodeOptions): Promise<NodeContext> {
  const { host, store, directory, node, advertise } = options;
  for (const name of ['attempts', 'ended', 'setups']) {
    await host.files.makeDirectory(`${directory}/${name}`, { mode: 0o700 });
  }
  if (options.sealing !== undefined) await host.files.makeDirectory(nodeSecretsDirectory(directory), { mode: 0o700 });
  const bell = `${directory}/bell`;
  return {
    host,
    store,
    directory,
    node,
    advertise,
    environment: pickBase(options.environment),
    bell,
    logs: options.logs ?? null,
    sealing: options.sealing ?? null,
    secretFiles: await openSecretFiles(host, directory),
    quietLogs: createQuietLogs(host),
    ports: await createPorts(host),
    diskGuard: await createDiskGuard(host, directory),
    setupShelf: createSetupShelf(host, `${directory}/setups`),
    startJournal: await openStartJournal(host, `${directory}/starts`),
    // Last, as it watches from here on: nothing may fail behind it.
    exitWatch: await createExitWatch({ host, bell }),
  };
}
