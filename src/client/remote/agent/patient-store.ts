import { BlobFault } from '../../../blobs/blob-fault.ts';
import type { BlobStore } from '../../../blobs/blob-store.ts';
import { sleep, type Timers } from '../../../host/clock.ts';
import { HostError } from '../../../host/files.ts';
import { RefusalError } from '../../refusal-error.ts';

const againMs = 2000;

/**
 * A server's store as an agent needs it: where the server is away it waits, since the agent's tasks can go on without it
 * and its orders cannot change meanwhile. What the server refuses becomes what a store on the disk would say.
 */
export function createPatientStore(store: BlobStore, timers: Timers, signal: AbortSignal): BlobStore {
  const patiently = async <Result>(ask: () => Promise<Result>): Promise<Result> => {
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof RefusalError)) throw error;
        if (!passing.has(error.code) || signal.aborted) throw faultOf(error);
        await sleep(timers, againMs, signal);
      }
    }
  };
  return {
    missing: (hashes) => patiently(() => store.missing(hashes)),
    put: (bytes, expected) => patiently(() => store.put(bytes, expected)),
    putMany: (blobs) => patiently(() => store.putMany(blobs)),
    putFile: (path) => patiently(() => store.putFile(path)),
    get: (hash) => patiently(() => store.get(hash)),
    getMany: (hashes) => patiently(() => store.getMany(hashes)),
    extract: (hash, path, options) => patiently(() => store.extract(hash, path, options)),
    collectGarbage: (options) => store.collectGarbage(options),
  };
}

const passing: ReadonlySet<string> = new Set([
  'UNREACHABLE',
  'STOPPING',
  'TOO_MANY',
  'INTERNAL',
  'TIMED_OUT',
  'READ_ONLY',
  'UNTRUSTED',
]);

function faultOf(error: RefusalError): Error {
  if (error.code === 'STORE_FULL')
    return new HostError('ENOSPC', `the server's disk is full: ${error.message}`, null, error);
  return new BlobFault('BAD_STORE', error.message, null, error);
}
