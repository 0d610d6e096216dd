import { resolve } from 'node:path';
import type { BlobStore } from '../blobs/blob-store.ts';
import { landTree } from '../blobs/land.ts';
import type { Manifest } from '../blobs/manifest.ts';
import type { StorageHost } from '../blobs/storage-host.ts';
import type { OutputView } from '../core/job/view.ts';
import { refuse } from '../core/refusal.ts';
import type { LandedOutput } from './api.ts';
import { RefusalError } from './refusal-error.ts';
import { withLandingRefusals } from './tree-errors.ts';

/** Outputs of one task. */
export interface TaskTree {
  /** Index or rank under which they land; null where the job has one task. */
  readonly place: number | null;
  readonly outputs: readonly OutputView[];
  /** Read only where something of it lands; null when there is nothing to land. */
  readonly manifest: (() => Promise<Manifest>) | null;
}

/** Lands outputs under `to`; those of arrays and distributed jobs under `to/<N>`. Says what became of each. */
export async function landTrees(
  { host, store }: { readonly host: StorageHost; readonly store: BlobStore },
  trees: readonly TaskTree[],
  options: { readonly id: string; readonly to: string; readonly paths?: readonly string[] },
): Promise<readonly LandedOutput[]> {
  const landed: LandedOutput[] = [];
  const to = resolve(options.to);
  for (const { place, outputs, manifest } of trees) {
    const directory = place === null ? to : `${to}/${place}`;
    const wanted = outputs.filter(
      ({ path }) => options.paths === undefined || options.paths.some((one) => covers(path, one)),
    );
    if (manifest !== null && wanted.some(({ state }) => state === 'collected')) {
      const paths = options.paths === undefined ? {} : { paths: options.paths };
      const found = await manifest();
      await withLandingRefusals(directory, () => landTree({ manifest: found, store, directory, host, ...paths }));
    }
    for (const output of wanted) {
      const landedAt = output.state === 'collected' ? `${directory}/${output.path}` : null;
      landed.push({ ...output, landedAt });
    }
  }
  const unknown = options.paths?.find((one) => !landed.some(({ path }) => covers(path, one)));
  if (unknown !== undefined) {
    throw new RefusalError(
      refuse('NOT_FOUND', `${unknown} is not among the outputs of ${options.id}`, {
        hint: `yard outputs ${options.id} --list`,
      }),
    );
  }
  return landed;
}

function covers(declared: string, wanted: string): boolean {
  return declared === wanted || wanted.startsWith(`${declared}/`) || declared.startsWith(`${wanted}/`);
}
