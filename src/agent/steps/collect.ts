import { collectOutputs } from '../../blobs/collect.ts';
import { encodeManifest } from '../../blobs/manifest-codec.ts';
import type { Output } from '../../core/job/job.ts';
import { type Files, HostError } from '../../host/files.ts';
import { type Attempt, countBeginning } from '../attempt.ts';
import { readMaterialised } from '../materialised.ts';
import { unkillable } from '../process-step.ts';
import { readRecords } from '../records.ts';
import { eventOf } from '../supervision/endings.ts';
import type { StepWork, TaskContext } from '../task-context.ts';

const deadlineMs = 10 * 60_000;

/** Stops what still runs where the order says so, then brings the declared outputs into the store (S5). */
export const collect: StepWork = async (context) => {
  const { host, attempt, order } = context;
  if (order.stop !== null && (await context.stop(order.stop.graceMs)) === 'unkillable') {
    return eventOf(unkillable);
  }
  const search = { mark: attempt.mark, directory: attempt.directory, leader: null };
  await host.processes.release(search);
  const { exit } = await readRecords({ files: host.files, directory: attempt.directory, label: 'run' });
  const exitCode = exit?.kind === 'exited' ? exit.exitCode : null;
  const signal = exit?.kind === 'killed' ? exit.signal : null;
  if (order.task.spec.outputs.length === 0) {
    return { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode, signal };
  }
  const { outputs, manifest } = await collectDeclared(context);
  return { kind: 'OutputsCollected', outputs, manifest, exitCode, signal };
};

async function collectDeclared(context: TaskContext): Promise<{ outputs: readonly Output[]; manifest: string | null }> {
  const { host, store, attempt, order } = context;
  const declared = order.task.spec.outputs;
  if (!(await countUnlessFull(host.files, attempt))) {
    const why = 'collecting ended the agent again and again';
    return { outputs: declared.map((path) => ({ path, state: 'refused', sizeBytes: null, why })), manifest: null };
  }
  const materialised = await readMaterialised(host.files, attempt);
  const collected = await collectOutputs({ workdir: attempt.workdir, declared, materialised, store, host, deadlineMs });
  const outputs = collected.outputs.map(({ path, state, sizeBytes, why }) => ({
    path,
    state,
    sizeBytes: sizeBytes ?? null,
    why: why ?? null,
  }));
  if (collected.manifest.entries.length === 0) return { outputs, manifest: null };
  return { outputs, manifest: await store.put(encodeManifest(collected.manifest)) };
}

/** What is to be collected may be what fills the disk: without room for the count it goes on, and makes room. */
async function countUnlessFull(files: Files, attempt: Attempt): Promise<boolean> {
  try {
    return await countBeginning(files, attempt, 'collect');
  } catch (error) {
    if (!(error instanceof HostError) || error.code !== 'ENOSPC') throw error;
    return true;
  }
}
