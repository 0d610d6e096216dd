import { BlobFault } from './blob-fault.ts';
import type { BlobHash } from './blob-store.ts';
import { setAsideLoose, setAsidePack } from './garbage.ts';
import type { Pack, PackedBlob } from './pack-set.ts';
import type { StoreParts } from './store-parts.ts';

/** Neighbours in a pack this near are read in one go. */
const gapBytes = 64 * 1024;
/** The most that one read of a pack takes into memory. */
const readBytes = 4 * 1024 * 1024;

/**
 * One blob, verified; null when it is not stored. Every copy is tried before a damaged one is a failure, and damaged
 * ones are set aside, so that whoever has the bytes can store them again.
 */
export async function readOne(parts: StoreParts, hash: BlobHash): Promise<Uint8Array | null> {
  const { packs, host, loose } = parts;
  let isDamaged = false;
  await packs.refresh();
  for (const { pack, offset, length } of packs.find(hash)) {
    const bytes = await host.files.readAt(pack.path, offset, length);
    if (bytes === null) continue;
    if (host.digests.sha256(bytes) === hash) return bytes;
    await setAsidePack(parts, pack);
    isDamaged = true;
  }
  const bytes = await host.files.read(loose.pathOf(hash));
  if (bytes !== null) {
    if (host.digests.sha256(bytes) === hash) return bytes;
    await setAsideLoose(parts, hash);
    isDamaged = true;
  }
  if (isDamaged) throw damaged(parts, hash);
  // Between the look at the packs and the read, garbage collection may have moved it to a new pack.
  await packs.refresh();
  for (const { pack, offset, length } of packs.find(hash)) {
    const moved = await host.files.readAt(pack.path, offset, length);
    if (moved !== null && host.digests.sha256(moved) === hash) return moved;
  }
  return null;
}

function damaged({ directory }: StoreParts, hash: BlobHash): BlobFault {
  const message = `blob ${hash} in ${directory} does not have the content its name says; push it again`;
  return new BlobFault('CORRUPT_BLOB', message, hash);
}

/** Many blobs, read pack by pack in the order in which they lie there; absent ones are left out. */
export async function readMany(
  parts: StoreParts,
  hashes: readonly BlobHash[],
): Promise<ReadonlyMap<BlobHash, Uint8Array>> {
  const { packs, host } = parts;
  const found = new Map<BlobHash, Uint8Array>();
  await packs.refresh();
  const byPack = new Map<Pack, (PackedBlob & { hash: BlobHash })[]>();
  for (const hash of new Set(hashes)) {
    const place = packs.find(hash).at(-1);
    if (place === undefined) continue;
    const group = byPack.get(place.pack) ?? [];
    group.push({ ...place, hash });
    byPack.set(place.pack, group);
  }
  for (const [pack, group] of byPack) {
    for (const run of joinNeighbours(group)) {
      const bytes = await host.files.readAt(pack.path, run.offset, run.length);
      if (bytes === null) break;
      for (const { hash, offset, length } of run.blobs) {
        const part = bytes.subarray(offset - run.offset, offset - run.offset + length);
        if (host.digests.sha256(part) === hash) found.set(hash, part);
      }
    }
  }
  for (const hash of new Set(hashes)) {
    // Loose, moved or damaged: the careful way finds out.
    const bytes = found.has(hash) ? null : await readOne(parts, hash);
    if (bytes !== null) found.set(hash, bytes);
  }
  return found;
}

interface Run {
  offset: number;
  length: number;
  blobs: (PackedBlob & { hash: BlobHash })[];
}

function joinNeighbours(group: readonly (PackedBlob & { hash: BlobHash })[]): readonly Run[] {
  const runs: Run[] = [];
  for (const blob of [...group].sort((left, right) => left.offset - right.offset)) {
    const run = runs.at(-1);
    const end = blob.offset + blob.length;
    if (run !== undefined && blob.offset - run.offset - run.length <= gapBytes && end - run.offset <= readBytes) {
      run.length = end - run.offset;
      run.blobs.push(blob);
    } else {
      runs.push({ offset: blob.offset, length: blob.length, blobs: [blob] });
    }
  }
  return runs;
}
