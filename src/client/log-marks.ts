import type { Files } from '../host/files.ts';

/** How much had been written of each stream at a moment, as the agent saw it. */
export interface TimeMark {
  /** Wall clock, Unix milliseconds. */
  readonly atMs: number;
  readonly outBytes: number;
  readonly errBytes: number;
}

/** The time marks of a log, oldest first; a line that is half written is left out. */
export async function readMarks(files: Files, directory: string, label: 'setup' | 'run'): Promise<readonly TimeMark[]> {
  const bytes = await files.read(`${directory}/${label}.times`);
  if (bytes === null) return [];
  const lines = new TextDecoder().decode(bytes).split('\n').slice(0, -1);
  return lines.flatMap((line) => {
    const [atMs, outBytes, errBytes] = line.split(' ').map(Number);
    return atMs === undefined || outBytes === undefined || errBytes === undefined ? [] : [{ atMs, outBytes, errBytes }];
  });
}
