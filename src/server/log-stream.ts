import type { LogOptions } from '../client/api.ts';
import type { Embedded } from '../client/embedded.ts';
import { followLogs, type PlacedChunk } from '../client/logs.ts';
import { followServiceLogs, type ReplicaPlaces } from '../client/service-logs.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { SentEvent } from './handler.ts';
import { readLogPlaces, writeLogPlaces } from './log-places.ts';

/** A piece of a log as it travels: bytes, since what a job writes need not be text. */
export interface SentPiece {
  readonly task: TaskKey;
  readonly step: 'setup' | 'run';
  readonly stream: 'stdout' | 'stderr';
  readonly atMs: number;
  /** Base64. */
  readonly bytes: string;
}

/** Each piece with an id that says how far every log has been read, so that nothing is lost or comes twice. */
export function streamJobLogs(
  embedded: Embedded,
  reference: { readonly id: string; readonly part: number | null },
  options: LogOptions,
  lastEventId: string | null,
): AsyncGenerator<SentEvent<SentPiece>> {
  const resumed = lastEventId === null ? null : readLogPlaces(lastEventId);
  const own = resumed === null ? null : (resumed.get(reference.id) ?? new Map());
  return sentOfJob(reference, followLogs(embedded, reference, options, own));
}

async function* sentOfJob(
  reference: { readonly id: string },
  chunks: AsyncIterable<PlacedChunk>,
): AsyncGenerator<SentEvent<SentPiece>> {
  for await (const chunk of chunks) {
    if (chunk.bytes.length > 0)
      yield { id: writeLogPlaces(new Map([[reference.id, chunk.places]])), data: sent(chunk) };
  }
}

/** The same of all replicas of a service. */
export function streamServiceLogs(
  embedded: Embedded,
  name: string,
  options: LogOptions,
  lastEventId: string | null,
): AsyncGenerator<SentEvent<SentPiece>> {
  return sentOfService(embedded, name, options, lastEventId === null ? null : readLogPlaces(lastEventId));
}

async function* sentOfService(
  embedded: Embedded,
  name: string,
  options: LogOptions,
  resumed: ReplicaPlaces | null,
): AsyncGenerator<SentEvent<SentPiece>> {
  const delivered = new Map(resumed);
  for await (const chunk of followServiceLogs(embedded, name, options, resumed)) {
    if (chunk.bytes.length === 0) continue;
    // A copy: replicas whose next piece is on its way have been read further than what was sent.
    delivered.set(chunk.task.job, new Map([...chunk.places].map(([task, offsets]) => [task, new Map(offsets)])));
    forgetGone(embedded, name, delivered, chunk.task.job);
    yield { id: writeLogPlaces(delivered), data: sent(chunk) };
  }
}

/** Replicas that are gone say nothing more, and are not named in ids for ever. */
function forgetGone(
  { plane }: Embedded,
  name: string,
  delivered: Map<string, PlacedChunk['places']>,
  speaking: string,
): void {
  const alive = plane.state.services.get(name)?.replicas;
  const mostGone = 64;
  const gone = [...delivered.keys()].filter((id) => id !== speaking && alive?.has(id) !== true);
  for (const id of gone.slice(0, Math.max(0, gone.length - mostGone))) delivered.delete(id);
}

function sent({ task, step, stream, atMs, bytes }: PlacedChunk): SentPiece {
  return { task, step, stream, atMs, bytes: Buffer.from(bytes).toString('base64') };
}
