import { HostError } from '../host/files.ts';
import { toHex } from '../host/hex.ts';
import type { BlobHash } from './blob-store.ts';
import { listIndex, type PackSlot } from './pack-format.ts';
import type { Pack } from './pack-set.ts';
import { packBytes, type StoreParts } from './store-parts.ts';

/** Packs smaller than this are put together once there are several. */
const smallPackBytes = 4 * 1024 * 1024;
const smallPacks = 8;
/** Files that a crash left under a temporary name are nobody's after this long. */
const leftoverMs = 3_600_000;
const condemnedSuffix = '.condemned';

interface Outcome {
  readonly removed: Set<BlobHash>;
  freedBytes: number;
}

/**
 * Removes blobs that are neither in `keep` nor younger than `graceMs` by their file's modification time, which every
 * use of `missing` and `put` renews. A file is condemned by a rename and looked at again before it goes: whoever
 * renewed it before the rename gets it back, whoever comes after finds it absent and stores it anew.
 */
export async function collectGarbage(
  parts: StoreParts,
  request: { keep: ReadonlySet<BlobHash>; graceMs: number },
): Promise<{ removed: readonly BlobHash[]; freedBytes: number }> {
  const outcome: Outcome = { removed: new Set(), freedBytes: 0 };
  await settleLeftovers(parts);
  await collectLoose(parts, request, outcome);
  await collectPacks(parts, request, outcome);
  return { removed: [...outcome.removed], freedBytes: outcome.freedBytes };
}

async function collectLoose(
  parts: StoreParts,
  { keep, graceMs }: { keep: ReadonlySet<BlobHash>; graceMs: number },
  outcome: Outcome,
): Promise<void> {
  const { files, clock } = parts.host;
  const dead = (await parts.loose.list()).filter(({ hash }) => !keep.has(hash));
  const stats = await files.lstatMany(dead.map(({ path }) => path));
  for (const [i, { hash, path }] of dead.entries()) {
    const stat = stats[i];
    if (stat === null || stat === undefined || clock.wallMs() - stat.mtimeMs <= graceMs) continue;
    if (!(await removeUnlessRenewed(parts, path, stat.mtimeMs))) continue;
    outcome.removed.add(hash);
    outcome.freedBytes += stat.sizeBytes;
  }
}

/** Rewrites packs whose blobs are mostly dead, and many small ones into few. */
async function collectPacks(
  parts: StoreParts,
  { keep, graceMs }: { keep: ReadonlySet<BlobHash>; graceMs: number },
  outcome: Outcome,
): Promise<void> {
  const { files, clock } = parts.host;
  await parts.packs.refresh();
  const packs = parts.packs.all();
  const stats = await files.lstatMany(packs.map(({ path }) => path));
  const old = packs.flatMap((pack, i) => {
    const stat = stats[i];
    if (stat === null || stat === undefined || clock.wallMs() - stat.mtimeMs <= graceMs) return [];
    const slots = listIndex(pack.index);
    const live = slots.filter(({ hash }) => keep.has(hash));
    return [{ pack, stat, live, dead: slots.filter(({ hash }) => !keep.has(hash)), liveBytes: sum(live) }];
  });
  const small = old.filter(({ stat }) => stat.sizeBytes < smallPackBytes);
  const merged = new Set(small.length >= smallPacks ? small : []);
  const mostlyDead = old.filter(({ stat, liveBytes, dead }) => dead.length > 0 && liveBytes * 2 < stat.sizeBytes);
  const chosen = new Set([...merged, ...mostlyDead]);
  // The living are safe in new packs before any old one goes.
  await copyBlobs(
    parts,
    [...chosen].map(({ pack, live }) => ({ pack, slots: live })),
  );
  for (const { pack, stat, dead, liveBytes } of chosen) {
    if (!(await removeUnlessRenewed(parts, pack.path, stat.mtimeMs))) continue;
    for (const { hash } of dead) outcome.removed.add(hash);
    outcome.freedBytes += stat.sizeBytes - liveBytes;
  }
}

function sum(slots: readonly PackSlot[]): number {
  return slots.reduce((total, { length }) => total + length, 0);
}

/** Writes blobs of several packs into new ones, leaving out what does not verify. */
async function copyBlobs(
  { packs, host }: StoreParts,
  sources: readonly { pack: Pack; slots: readonly PackSlot[] }[],
): Promise<void> {
  const copied = new Set<BlobHash>();
  let batch: { hash: BlobHash; bytes: Uint8Array }[] = [];
  let batchBytes = 0;
  for (const { pack, slots } of sources) {
    for (const { hash, offset, length } of slots) {
      if (copied.has(hash)) continue;
      const bytes = await host.files.readAt(pack.path, offset, length);
      if (bytes === null || host.digests.sha256(bytes) !== hash) continue;
      copied.add(hash);
      if (batchBytes + length > packBytes) {
        await packs.add(batch);
        batch = [];
        batchBytes = 0;
      }
      batch.push({ hash, bytes });
      batchBytes += length;
    }
  }
  if (batch.length > 0) await packs.add(batch);
}

async function removeUnlessRenewed({ host }: StoreParts, path: string, seenMtimeMs: number): Promise<boolean> {
  const { files } = host;
  const condemned = path + condemnedSuffix;
  if (!(await renameIfThere(files, path, condemned))) return false;
  const stat = await files.lstat(condemned);
  if (stat !== null && stat.mtimeMs !== seenMtimeMs) {
    await renameIfThere(files, condemned, path);
    return false;
  }
  await files.remove(condemned);
  return true;
}

async function renameIfThere(files: StoreParts['host']['files'], from: string, to: string): Promise<boolean> {
  try {
    await files.rename(from, to);
    return true;
  } catch (error) {
    if (error instanceof HostError && error.code === 'ENOENT') return false;
    throw error;
  }
}

/** After a crash: what was condemned and not removed comes back, what was half written goes. */
async function settleLeftovers({ directory, host }: StoreParts): Promise<void> {
  const { files, clock } = host;
  const loose = (await files.list(`${directory}/loose`)) ?? [];
  const folders = ['incoming', 'packs', ...loose.map(({ name }) => `loose/${name}`)];
  for (const folder of folders) {
    const names = ((await files.list(`${directory}/${folder}`)) ?? []).map(({ name }) => name);
    const odd = names.filter((name) => folder === 'incoming' || /\.(tmp|condemned)$/.test(name));
    for (const name of odd) {
      const path = `${directory}/${folder}/${name}`;
      const stat = await files.lstat(path);
      if (stat === null || clock.wallMs() - stat.ctimeMs < leftoverMs) continue;
      if (name.endsWith(condemnedSuffix)) await renameIfThere(files, path, path.slice(0, -condemnedSuffix.length));
      else await files.remove(path);
    }
  }
}

/** Moves a damaged blob out of the way, so that it counts as missing and can be stored again. */
export async function setAsideLoose({ directory, host, loose }: StoreParts, hash: BlobHash): Promise<void> {
  await renameIfThere(host.files, loose.pathOf(hash), `${directory}/incoming/damaged-${hash}`);
}

/** Copies what is whole in a damaged pack to a new one, then moves the damaged one out of the way. */
export async function setAsidePack(parts: StoreParts, pack: Pack): Promise<void> {
  await copyBlobs(parts, [{ pack, slots: listIndex(pack.index) }]);
  await renameIfThere(
    parts.host.files,
    pack.path,
    `${parts.directory}/incoming/damaged-${toHex(parts.host.chance.bytes(8))}`,
  );
  await parts.packs.refresh();
}
