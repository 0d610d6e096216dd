import { decodeManifest } from '../blobs/manifest-codec.ts';
import { parseTaskKey } from '../core/job/job.ts';
import { readKept } from '../log/read-kept.ts';
import type { PruneReport } from './api.ts';
import type { Embedded } from './embedded.ts';
import { allow } from './visible.ts';

const pushGraceMs = 60 * 60_000;

/** Forgets jobs that ended before the retention, with their logs, and then every blob that nothing names any more. */
export async function prune(embedded: Embedded, { olderThanMs }: { olderThanMs: number }): Promise<PruneReport> {
  const { plane, host } = embedded;
  await plane.catchUp();
  allow(embedded, 'prune');
  const beforeMs = host.clock.wallMs() - olderThanMs;
  const jobs = await plane.log.pruneArchive(beforeMs);
  await plane.log.trim({
    beforeSeq: await seqAt(embedded, beforeMs),
    answersBeforeMs: plane.nowMs() - 24 * 3_600_000,
  });
  const attempts = await pruneAttempts(embedded);
  const { removed, freedBytes } = await pruneBlobs(embedded);
  return { jobs, blobs: removed.length, attempts, freedBytes };
}

/** The first fact that is young enough to be kept. */
async function seqAt({ plane }: Embedded, beforeMs: number): Promise<number> {
  let seq = 0;
  for (;;) {
    const batches = await readKept(plane.log, seq, 500);
    for (const batch of batches) {
      if (batch.atMs >= beforeMs) return batch.seq;
      seq = batch.seq + batch.facts.length - 1;
    }
    if (batches.length === 0) return seq;
  }
}

async function pruneAttempts(embedded: Embedded): Promise<number> {
  const { home, host, plane } = embedded;
  let removed = 0;
  for (const { name: node } of (await host.files.list(`${home}/nodes`)) ?? []) {
    for (const shelf of await shelvesOf(embedded, node)) {
      for (const { name } of (await host.files.list(shelf)) ?? []) {
        const job = parseTaskKey(name)?.job ?? '';
        if (plane.state.jobs.has(job) || (await plane.log.archived(job)) !== null) continue;
        await host.files.remove(`${shelf}/${name}`);
        removed += 1;
      }
    }
  }
  return removed;
}

/** Of a node that is elsewhere there are only logs here, all in one place; those of a node here the agent puts aside. */
async function shelvesOf({ home, host, plane }: Embedded, node: string): Promise<readonly string[]> {
  const directory = `${home}/nodes/${node}`;
  const isHere = (await host.files.stat(`${directory}/lock.db`)) !== null;
  const isElsewhere = plane.state.nodes.get(node)?.leased ?? !isHere;
  return isElsewhere && !isHere ? [`${directory}/attempts`, `${directory}/ended`] : [`${directory}/ended`];
}

async function pruneBlobs({ plane, store }: Embedded): Promise<{ removed: readonly string[]; freedBytes: number }> {
  const keep = new Set<string>();
  for (const manifest of await plane.log.pinnedBlobs()) {
    keep.add(manifest);
    const bytes = await store.get(manifest);
    if (bytes === null) continue;
    for (const entry of decodeManifest(bytes).entries) if (entry.kind === 'file') keep.add(entry.hash);
  }
  const result = await store.collectGarbage({ keep, graceMs: pushGraceMs });
  await plane.log.forgetBlobs(result.removed);
  return result;
}
