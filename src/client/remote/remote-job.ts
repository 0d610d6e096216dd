import { decodeManifest } from '../../blobs/manifest-codec.ts';
import type { JobView } from '../../core/job/view.ts';
import { refuse } from '../../core/refusal.ts';
import type { JobHandle, LandedOutput } from '../api.ts';
import { landTrees } from '../land-outputs.ts';
import { RefusalError } from '../refusal-error.ts';
import { readStream } from './read-stream.ts';
import type { Remote } from './remote.ts';
import { runExec } from './remote-exec.ts';
import { jobLogs } from './remote-logs.ts';

export function createRemoteJob(remote: Remote, reference: { id: string; part: number | null }): JobHandle {
  const { http } = remote;
  const { id, part } = reference;
  const params = { id };
  const query = part === null ? {} : { part };
  const handle: JobHandle = {
    id,
    part,
    view: () => http.call('getJob', { params }),
    watch: (options) => readStream(http, 'watchJob', { params, signal: options?.signal, endless: true }),
    wait: (options) => waitForEnd(handle, options?.signal),
    async *logs(options = {}) {
      for await (const { text } of jobLogs(remote, reference, options)) yield text;
    },
    logChunks: (options = {}) => jobLogs(remote, reference, options),
    async stop(options) {
      const graceMs = options?.graceMs;
      await http.call('stopJob', { params, query, body: graceMs === undefined ? {} : { graceMs } });
    },
    async failUnschedulable(message) {
      await http.call('failUnschedulable', { params, body: { message } });
    },
    async retry(options) {
      const failed = options?.failed;
      const body = failed === undefined ? {} : { failed };
      return createRemoteJob(remote, await http.call('retryJob', { params, query, body }));
    },
    land: (options) => land(remote, reference, options),
    async outputs() {
      return (await http.call('jobOutputs', { params, query })).items;
    },
    async explain() {
      const { sentence, settings } = await http.call('explainJob', { params, query });
      return { sentence, settings };
    },
    async heldUp() {
      return (await http.call('explainJob', { params, query })).heldUp;
    },
    exec: (options) => runExec(remote, reference, options),
  };
  return handle;
}

/** The job once it has ended, or as it is when the signal aborts. */
async function waitForEnd(handle: JobHandle, signal: AbortSignal | undefined): Promise<JobView> {
  let last: JobView | null = null;
  for await (const view of handle.watch(signal === undefined ? {} : { signal })) last = view;
  return last ?? handle.view();
}

async function land(
  { http, host, store }: Remote,
  { id, part }: { id: string; part: number | null },
  options: { readonly to: string; readonly paths?: readonly string[] },
): Promise<readonly LandedOutput[]> {
  const query = part === null ? {} : { part };
  const { items } = await http.call('jobOutputTrees', { params: { id }, query });
  const trees = items.map(({ place, outputs, manifest }) => ({
    place,
    outputs,
    manifest:
      manifest === null
        ? null
        : async () => {
            const bytes = await store.get(manifest);
            if (bytes === null) throw new RefusalError(refuse('NOT_FOUND', 'the outputs have been pruned'));
            return decodeManifest(bytes);
          },
  }));
  return landTrees({ host, store }, trees, { id, ...options });
}
