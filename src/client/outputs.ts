import { attemptOf } from '../agent/attempt.ts';
import { readMaterialised } from '../agent/materialised.ts';
import type { BlobHash } from '../blobs/blob-store.ts';
import { collectOutputs } from '../blobs/collect.ts';
import type { Manifest } from '../blobs/manifest.ts';
import { decodeManifest, encodeManifest } from '../blobs/manifest-codec.ts';
import type { Job, Output, TaskKey } from '../core/job/job.ts';
import type { OutputView } from '../core/job/view.ts';
import { refuse } from '../core/refusal.ts';
import type { LandedOutput } from './api.ts';
import type { Embedded } from './embedded.ts';
import { requireJob } from './job-handle.ts';
import { landTrees } from './land-outputs.ts';
import { RefusalError } from './refusal-error.ts';
import { type PlacedTask, tasksOf } from './task-place.ts';

const liveDeadlineMs = 10 * 60_000;

interface TaskOutputs {
  readonly placed: PlacedTask;
  /** Index or rank under which they land; null where the job has one task. */
  readonly place: number | null;
  readonly outputs: readonly Output[];
  readonly manifest: Manifest | null;
}

/** Declared outputs and what became of them; of a live task what there is so far. */
export async function viewOutputs(
  embedded: Embedded,
  reference: { id: string; part: number | null },
): Promise<readonly OutputView[]> {
  const all = await gather(embedded, reference);
  return all.flatMap(({ place, outputs }) => outputs.map((output) => viewOutput(place, output)));
}

/** Lands outputs under `to`; those of arrays and distributed jobs under `to/<N>`. */
export async function landOutputs(
  embedded: Embedded,
  reference: { id: string; part: number | null },
  options: { to: string; paths?: readonly string[] },
): Promise<readonly LandedOutput[]> {
  const trees = (await gather(embedded, reference)).map(({ place, outputs, manifest }) => ({
    place,
    outputs: outputs.map((output) => viewOutput(place, output)),
    manifest: manifest === null ? null : () => Promise.resolve(manifest),
  }));
  return landTrees(embedded, trees, { id: reference.id, ...options });
}

/** Outputs of one task as they travel: with the name of the blob that lists what there is to land. */
export interface OutputTree {
  readonly place: number | null;
  readonly outputs: readonly OutputView[];
  readonly manifest: BlobHash | null;
}

/** The same by task, for whoever lands them elsewhere. */
export async function outputTrees(
  embedded: Embedded,
  reference: { id: string; part: number | null },
): Promise<readonly OutputTree[]> {
  const gathered = await gather(embedded, reference);
  return Promise.all(
    gathered.map(async ({ placed, place, outputs, manifest }) => ({
      place,
      outputs: outputs.map((output) => viewOutput(place, output)),
      // What a live task has so far is listed nowhere yet.
      manifest: manifest === null ? null : (placed.task.outputsManifest ?? (await keepManifest(embedded, manifest))),
    })),
  );
}

function keepManifest({ store }: Embedded, manifest: Manifest): Promise<BlobHash> {
  return store.put(encodeManifest(manifest));
}

async function gather(
  embedded: Embedded,
  reference: { id: string; part: number | null },
): Promise<readonly TaskOutputs[]> {
  await embedded.plane.catchUp();
  const job = await requireJob(embedded, reference.id);
  const several = job.settings.array !== null || job.settings.nodes > 1;
  const gathered: TaskOutputs[] = [];
  for (const placed of tasksOf(job, reference.part)) {
    const place = several ? (job.settings.array === null ? placed.task.rank : placed.key.index) : null;
    const found =
      placed.element.kind === 'live' && placed.task.step !== 'ended'
        ? await liveOutputs(embedded, job, placed)
        : await storedOutputs(embedded, placed);
    gathered.push({ placed, place, ...found });
  }
  return gathered;
}

async function storedOutputs(
  { store }: Embedded,
  { task }: PlacedTask,
): Promise<{ outputs: readonly Output[]; manifest: Manifest | null }> {
  if (task.outputsManifest === null) return { outputs: task.outputs, manifest: null };
  const bytes = await store.get(task.outputsManifest);
  if (bytes === null) throw new RefusalError(refuse('NOT_FOUND', 'the outputs have been pruned'));
  return { outputs: task.outputs, manifest: decodeManifest(bytes) };
}

async function liveOutputs(
  embedded: Embedded,
  job: Job,
  { key, task }: PlacedTask,
): Promise<{ outputs: readonly Output[]; manifest: Manifest | null }> {
  const { home, host, store, plane } = embedded;
  if (plane.state.nodes.get(task.node)?.leased === true) return outputsElsewhere(embedded, key, task.node);
  const attempt = attemptOf(`${home}/nodes/${task.node}`, task.node, key);
  const materialised = await readMaterialised(host.files, attempt);
  const declared = job.spec.outputs;
  const found = await collectOutputs({
    workdir: attempt.workdir,
    declared,
    materialised,
    store,
    host,
    deadlineMs: liveDeadlineMs,
  });
  const outputs = found.outputs.map(({ path, state, sizeBytes, why }) => ({
    path,
    state,
    sizeBytes: sizeBytes ?? null,
    why: why ?? null,
  }));
  return { outputs, manifest: found.manifest.entries.length === 0 ? null : found.manifest };
}

/** The node brings them into the store itself. */
async function outputsElsewhere(
  { elsewhere, store }: Embedded,
  key: TaskKey,
  node: string,
): Promise<{ outputs: readonly Output[]; manifest: Manifest | null }> {
  if (elsewhere === undefined) {
    const message = `the outputs of a live task on node ${node} are not on this machine`;
    throw new RefusalError(refuse('UNREACHABLE', message, { hint: 'ask the server: yard login' }));
  }
  const { outputs, manifest } = await elsewhere.collect(node, key);
  const bytes = manifest === null ? null : await store.get(manifest);
  return { outputs, manifest: bytes === null ? null : decodeManifest(bytes) };
}

function viewOutput(index: number | null, { path, state, sizeBytes, why }: Output): OutputView {
  return { index, path, state, ...(sizeBytes === null ? {} : { size: sizeBytes }), ...(why === null ? {} : { why }) };
}
