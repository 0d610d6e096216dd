import type { Files } from '../host/files.ts';

export interface LogPosition {
  readonly files: Files;
  readonly directory: string;
  readonly label: 'setup' | 'run';
  readonly stream: 'out' | 'err';
  readonly offset: number;
  readonly maxBytes: number;
}

/** A piece of a log from an offset on; empty at its end. */
export async function readLogBytes({
  files,
  directory,
  label,
  stream,
  offset,
  maxBytes,
}: LogPosition): Promise<Uint8Array> {
  return (await files.readAt(`${directory}/${label}.${stream}`, offset, maxBytes)) ?? new Uint8Array();
}
