import type { Serving } from './serving.ts';

/** What a simulated command does, written as JSON behind the word `sim` in the job's script. */
export interface Program {
  readonly lastsMs: number;
  /** Exit codes by attempt, the last one for all further attempts. */
  readonly codes: readonly number[];
  /** It ends itself with this signal instead of a code; null does not. */
  readonly dies: number | null;
  readonly onTerm: OnTerm;
  readonly children: readonly Child[];
  /** Files that it writes into its work directory at half its time. */
  readonly writes: readonly string[];
  /** It hangs this long at its end, and no signal ends it before; of what stays up none does so long after its start. */
  readonly stuckMs: number;
  /** Set for what stays up; then the lengths and codes above say nothing. */
  readonly serves: Serving | null;
}

/** `leave` cleans up for a moment and exits with code 3. */
export type OnTerm = 'die' | 'ignore' | 'leave';

/** A process that the command starts and does not wait for. */
export interface Child {
  readonly lastsMs: number;
  /** Called `setsid`. */
  readonly leaves: boolean;
  /** Started with an empty environment. */
  readonly scrubbed: boolean;
  readonly ignoresTerm: boolean;
}

/** The script text of a program. */
export function writeProgram(program: Program): string {
  return `sim ${JSON.stringify(program)}`;
}

/** Finds the program in what the agent made of the script; null when there is none. */
export function readProgram(argv: readonly string[]): Program | null {
  for (const word of argv) {
    const match = /(?:^|; )sim (\{.*\})$/.exec(word);
    if (match?.[1] !== undefined) return JSON.parse(match[1]) as Program;
  }
  return null;
}

export function exitCodeOf(program: Program, attempt: number): number {
  return program.codes[Math.min(attempt, program.codes.length) - 1] ?? 0;
}
