import { createJsonOutput } from './json.ts';
import type { Output } from './output.ts';
import { createPlainOutput } from './plain.ts';
import { createQuietOutput } from './quiet.ts';
import type { Streams } from './streams.ts';
import { createTerminalOutput } from './terminal.ts';

/** The one way this command talks: as asked for, else as stderr is a terminal or not. */
export function chooseOutput(streams: Streams, asked: { readonly json: boolean; readonly quiet: boolean }): Output {
  if (asked.json) return createJsonOutput(streams);
  if (asked.quiet) return createQuietOutput(streams);
  return streams.stderr.isTerminal ? createTerminalOutput(streams) : createPlainOutput(streams);
}
