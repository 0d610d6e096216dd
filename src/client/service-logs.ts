import { jobOfRecord } from '../control/archive.ts';
import type { LogChunk, LogOptions } from './api.ts';
import type { Embedded } from './embedded.ts';
import { followLogs, type PlacedChunk } from './logs.ts';
import { requireService } from './service-handle.ts';
import { createSignalBox } from './signal-box.ts';
import { listArchiveSeen } from './visible.ts';
import { mayConcern } from './watch-service.ts';

/** How far the logs of each replica have been read. */
export type ReplicaPlaces = ReadonlyMap<string, PlacedChunk['places']>;

/**
 * What all replicas print, interleaved: by time where all of it is there, as it comes while it is followed. Replicas
 * that come while it is followed are followed too. Where no replica is alive it is the log of the last one.
 */
export async function* followServiceLogs(
  embedded: Embedded,
  name: string,
  options: LogOptions,
  resumed: ReplicaPlaces | null = null,
): AsyncGenerator<PlacedChunk> {
  await embedded.plane.catchUp();
  requireService(embedded, name);
  if (options.follow === true) yield* followReplicas(embedded, name, options, resumed);
  else {
    const ids = new Set([...(resumed?.keys() ?? []), ...(await shownReplicas(embedded, name))]);
    yield* mergeByTime(
      [...ids].map((id) => followLogs(embedded, { id, part: null }, options, resumed?.get(id) ?? null)),
    );
  }
}

async function shownReplicas(embedded: Embedded, name: string): Promise<readonly string[]> {
  const alive = [...(embedded.plane.state.services.get(name)?.replicas.keys() ?? [])];
  if (alive.length > 0) return alive;
  const ended = (await listArchiveSeen(embedded, { name, limit: 20 })).map(jobOfRecord);
  const last = ended.find((job) => job.service?.name === name);
  return last === undefined ? [] : [last.id];
}

/** Of all sources the oldest piece next. */
async function* mergeByTime(sources: readonly AsyncGenerator<PlacedChunk>[]): AsyncGenerator<PlacedChunk> {
  const heads = await Promise.all(sources.map(async (source) => ({ source, head: await source.next() })));
  for (;;) {
    const open = heads.filter((one) => one.head.done !== true);
    const next = open.sort((a, b) => timeOf(a.head) - timeOf(b.head))[0];
    if (next === undefined || next.head.done === true) return;
    yield next.head.value;
    next.head = await next.source.next();
  }
}

function timeOf(head: IteratorResult<PlacedChunk>): number {
  return head.done === true ? Number.POSITIVE_INFINITY : head.value.atMs;
}

type Arrived = { readonly id: string; readonly head: IteratorResult<PlacedChunk> };

async function* followReplicas(
  embedded: Embedded,
  name: string,
  options: LogOptions,
  resumed: ReplicaPlaces | null,
): AsyncGenerator<PlacedChunk> {
  const { plane } = embedded;
  // Replicas are read while this waits: what ends this ends them, and its own waiting.
  const end = new AbortController();
  const signal = options.signal === undefined ? end.signal : AbortSignal.any([options.signal, end.signal]);
  const box = createSignalBox(signal);
  const unsubscribe = plane.subscribe((batch, state) => {
    if (batch.facts.some((fact) => mayConcern(fact, name, state))) box.ring();
  }, box.close);
  const sources = new Map<string, AsyncGenerator<PlacedChunk>>();
  const next = new Map<string, Promise<Arrived>>();
  const read = (id: string, source: AsyncGenerator<PlacedChunk>): void => {
    const arrived = source.next().then((head) => ({ id, head }));
    // One that fails while another is looked at is met in the next race, or is not wanted any more.
    arrived.catch(() => {});
    next.set(id, arrived);
  };
  try {
    for (let rung: Promise<null> | null = null; ; ) {
      const alive = plane.state.services.get(name)?.replicas.keys() ?? [];
      for (const id of [...(resumed?.keys() ?? []), ...alive]) {
        if (sources.has(id)) continue;
        // A replica that came since the place that is gone on from is new as a whole.
        const place = resumed === null ? null : (resumed.get(id) ?? new Map());
        const source = followLogs(embedded, { id, part: null }, { ...options, signal }, place);
        sources.set(id, source);
        read(id, source);
      }
      if (next.size === 0 && (box.isEnded() || !plane.state.services.has(name))) return;
      // An aborted wait resolves at once: racing it again and again would leave no time for the logs to end.
      if (!box.isEnded()) rung ??= box.wait().then(() => null);
      const arrived: Arrived | null = await Promise.race([
        ...next.values(),
        ...(rung === null || box.isEnded() ? [] : [rung]),
      ]);
      if (arrived === null) {
        rung = null;
        continue;
      }
      next.delete(arrived.id);
      if (arrived.head.done === true) continue;
      yield arrived.head.value;
      const source = sources.get(arrived.id);
      if (source !== undefined) read(arrived.id, source);
    }
  } finally {
    unsubscribe();
    end.abort();
    for (const source of sources.values()) source.return(undefined).catch(() => {});
  }
}

/** The same as text: each line behind the replica that printed it. */
export async function* labelLines(chunks: AsyncIterable<LogChunk>): AsyncGenerator<string> {
  const cut = new Map<string, string>();
  for await (const { task, step, stream, text } of chunks) {
    const source = `${task.job} ${step} ${stream}`;
    const lines = `${cut.get(source) ?? ''}${text}`.split('\n');
    cut.set(source, lines.pop() ?? '');
    for (const line of lines) yield `${task.job}  ${line}\n`;
  }
  for (const [source, line] of cut) if (line !== '') yield `${source.split(' ')[0]}  ${line}\n`;
}
