import type { LogChunk, LogOptions } from '../api.ts';
import { readStream } from './read-stream.ts';
import type { Remote } from './remote.ts';

/** What travels of a log: bytes, which may end within a character. */
interface Piece extends Omit<LogChunk, 'text' | 'bytes'> {
  /** Base64. */
  readonly bytes: string;
}

export function jobLogs(
  { http }: Remote,
  { id, part }: { readonly id: string; readonly part: number | null },
  options: LogOptions,
): AsyncGenerator<LogChunk> {
  const { signal, attempt } = options;
  const query = {
    ...queryOf(options),
    ...(part === null ? {} : { part }),
    ...(attempt === undefined ? {} : { attempt }),
  };
  const endless = options.follow === true;
  return decode(readStream(http, 'jobLogs', { params: { id }, query, signal, endless }));
}

export function serviceLogs({ http }: Remote, name: string, options: LogOptions): AsyncGenerator<LogChunk> {
  const { signal } = options;
  const endless = options.follow === true;
  return decode(readStream(http, 'serviceLogs', { params: { name }, query: queryOf(options), signal, endless }));
}

function queryOf({ follow, step, tail, sinceMs }: LogOptions) {
  return {
    ...(follow === undefined ? {} : { follow }),
    ...(step === undefined ? {} : { step }),
    ...(tail === undefined ? {} : { tail }),
    ...(sinceMs === undefined ? {} : { sinceMs: Math.round(sinceMs) }),
  };
}

/** The same with text: a character that was cut comes with the piece that ends it, or as it is when nothing follows. */
async function* decode(pieces: AsyncIterable<Piece>): AsyncGenerator<LogChunk> {
  const open = new Map<string, { readonly decoder: InstanceType<typeof TextDecoder>; last: Piece }>();
  for await (const piece of pieces) {
    const { task, step, stream, atMs } = piece;
    const source = `${task.job} ${task.index} ${task.rank} ${task.attempt} ${step} ${stream}`;
    const known = open.get(source) ?? { decoder: new TextDecoder(), last: piece };
    open.set(source, known);
    known.last = piece;
    const bytes = new Uint8Array(Buffer.from(piece.bytes, 'base64'));
    yield { task, step, stream, atMs, bytes, text: known.decoder.decode(bytes, { stream: true }) };
  }
  for (const { decoder, last } of open.values()) {
    const text = decoder.decode();
    if (text !== '') yield { ...last, bytes: new Uint8Array(), text };
  }
}
