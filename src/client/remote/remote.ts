import type { BlobStore } from '../../blobs/blob-store.ts';
import type { StorageHost } from '../../blobs/storage-host.ts';
import type { Host } from '../../host/host.ts';
import { createNodeChance } from '../../host/node/chance.ts';
import { createNodeClock } from '../../host/node/clock.ts';
import { createNodeDigests } from '../../host/node/digests.ts';
import { createNodeFiles } from '../../host/node/files.ts';
import { createNodeMachine } from '../../host/node/machine.ts';
import { createNodeTimers } from '../../host/node/timers.ts';
import type { Http } from './http.ts';

/** What every part of the client of a server works with. */
export interface Remote {
  /** This user's own, here: what pushes remember, contexts, nodes of this machine. */
  readonly home: string;
  readonly host: RemoteHost;
  readonly http: Http;
  /** The server's. */
  readonly store: BlobStore;
}

/** The outside without processes: a client starts none. */
export type RemoteHost = StorageHost & Pick<Host, 'timers' | 'machine'>;

export function createRemoteHost(): RemoteHost {
  return {
    clock: createNodeClock(),
    timers: createNodeTimers(),
    chance: createNodeChance(),
    files: createNodeFiles(),
    digests: createNodeDigests(),
    machine: createNodeMachine(),
  };
}
