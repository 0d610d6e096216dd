import { type Files, HostError } from '../host/files.ts';
import type { Label } from './records.ts';

/** What a person wrote under `run` or `setup`. */
export type Command =
  /** Shell text; `arguments` become its "$@". */
  | { readonly kind: 'script'; readonly text: string; readonly arguments: readonly string[] }
  | { readonly kind: 'argv'; readonly argv: readonly string[] };

/** A single argument of 128 KiB is refused by Linux (E2BIG); longer text goes through a file. */
const longestArgumentBytes = 100_000;

export interface CommandPlace {
  readonly files: Files;
  readonly directory: string;
  readonly label: Label;
  /** PATH of the task, where `bash` is looked for. */
  readonly path: string;
}

/**
 * Turns a command into an argument vector: text runs under `bash -eo pipefail` where there is bash, else under
 * `sh -e`; a `#!` first line is honoured. Files that this needs are written into the attempt's directory.
 * Setup text under bash also records the line that failed (see failed-line.ts).
 */
export async function buildArgv(command: Command, place: CommandPlace): Promise<readonly string[]> {
  if (command.kind === 'argv') return command.argv;
  const interpreter = parseInterpreterLine(command.text);
  if (interpreter !== null) {
    return [...interpreter, await writeScript(command.text, place), ...command.arguments];
  }
  const bash = await findProgram(place.files, place.path, 'bash');
  const shell = bash === null ? ['sh', '-e'] : [bash, '-eo', 'pipefail'];
  const trap = bash !== null && place.label === 'setup' ? failedLineTrap(failedLinePath(place)) : '';
  const text = trap + command.text;
  // Bytes are at most four times the characters, so that this needs no encoding of a long text.
  if (text.length > longestArgumentBytes / 4) {
    return [...shell, await writeScript(text, place), ...command.arguments];
  }
  return [...shell, '-c', text, bash === null ? 'sh' : 'bash', ...command.arguments];
}

/**
 * Splits a `#!` line as Linux does: a program and at most one argument. Running the program by name, instead of
 * executing the file, also works where files of the home may not be executed, and while a fork elsewhere in this
 * process still holds the new file open for writing (ETXTBSY).
 */
export function parseInterpreterLine(text: string): readonly string[] | null {
  const match = /^#![ \t]*([^ \t\n]+)[ \t]*([^\n]*?)[ \t]*(?:\n|$)/.exec(text);
  if (match?.[1] === undefined) return null;
  return match[2] ? [match[1], match[2]] : [match[1]];
}

/** The first executable file of that name in PATH; null when there is none. */
export async function findProgram(files: Files, path: string, name: string): Promise<string | null> {
  for (const directory of path.split(':')) {
    if (!directory.startsWith('/')) continue;
    const candidate = `${directory}/${name}`;
    const stat = await files.stat(candidate).catch((error: unknown) => {
      // A folder that may not be looked into is passed over, as a shell does.
      if (error instanceof HostError) return null;
      throw error;
    });
    if (stat?.kind === 'file' && (stat.mode & 0o111) !== 0) return candidate;
  }
  return null;
}

async function writeScript(text: string, place: CommandPlace): Promise<string> {
  const path = `${place.directory}/${place.label}.script`;
  await place.files.write(path, new TextEncoder().encode(text), { mode: 0o700 });
  return path;
}

function failedLinePath(place: { readonly directory: string }): string {
  return `${place.directory}/setup.line`;
}

/**
 * Traps that note the line when `-e` ends the shell. They stand before the text on its first line, so that numbers
 * stay as they are, and without errtrace, as the text's author expects. ERR does not fire inside a function then; the
 * end of the shell still finds the stack of calls, whose last number is a line of the text itself.
 */
function failedLineTrap(path: string): string {
  const file = quote(path);
  const onError = `case $- in *e*) echo "$LINENO \${BASH_LINENO[*]}" >|${file} ;; esac 2>/dev/null || :`;
  const onExit = `[ $? = 0 ] || [ -z "\${BASH_LINENO[*]}" ] || echo "\${BASH_LINENO[*]}" 2>/dev/null >|${file} || :`;
  return `trap ${quote(onError)} ERR; trap ${quote(onExit)} EXIT; `;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export interface FailedLine {
  /** Counted from 1, in the text as it was written. */
  readonly line: number;
  readonly text: string;
}

/** The line of a setup text whose failure ended it; null where that is not known (plain sh, an explicit `exit`). */
export async function readFailedLine(files: Files, directory: string, command: Command): Promise<FailedLine | null> {
  if (command.kind === 'argv') return null;
  const bytes = await files.read(failedLinePath({ directory }));
  if (bytes === null) return null;
  const numbers = new TextDecoder().decode(bytes).trim().split(/\s+/).map(Number);
  const line = numbers.at(-1) ?? 0;
  const text = command.text.split('\n')[line - 1]?.trim();
  return text === undefined ? null : { line, text };
}
