import type { Script } from '../../core/job/spec.ts';
import type { Files } from '../../host/files.ts';
import type { Attempt } from '../attempt.ts';

/** Exit codes with which shims and shells say that a program is not there, or cannot be run. */
const codes: ReadonlySet<number> = new Set([126, 127]);

const tailBytes = 2000;

const reasons =
  '(command not found|not found|No such file or directory|Permission denied|Argument list too long|Exec format error|Is a directory)';

/**
 * Says why the command could never start: no such program, not executable, too long. Null when it did start, which the
 * exit code alone cannot tell: the shim's or the shell's own last words must be there too.
 */
export async function whyItCannotStart(
  files: Files,
  attempt: Attempt,
  end: { readonly exitCode: number | null; readonly script: Script },
): Promise<string | null> {
  if (end.exitCode === null || !codes.has(end.exitCode)) return null;
  const path = `${attempt.directory}/run.err`;
  const sizeBytes = (await files.stat(path))?.sizeBytes ?? 0;
  const startBytes = Math.max(0, sizeBytes - tailBytes);
  const bytes = await files.readAt(path, startBytes, sizeBytes - startBytes);
  const line = bytes === null ? '' : (new TextDecoder().decode(bytes).trimEnd().split('\n').at(-1) ?? '');
  return readLastWords(line, end.script);
}

/** Reads `serve: No such file or directory`, `env: 'serve': …` and, for shell text, `bash: line 1: serve: command not found`. */
export function readLastWords(line: string, script: Script): string | null {
  const program = typeof script === 'string' ? programOf(line) : (script[0] ?? null);
  if (program === null) return null;
  const ofProgram = new RegExp(`(^|[\\s'‘"])${literal(program)}['’"]?: ${reasons}$`, 'i').exec(line);
  return ofProgram === null ? null : `${program}: ${ofProgram[2]}`;
}

/** The program that a shell names as its own message ends; what other programs print does not begin with a shell's name. */
function programOf(line: string): string | null {
  const match = new RegExp(
    `^(?:\\S*/)?(?:(?:ba|da)?sh|run\\.script): (?:line )?(?:\\d+: )?(?:exec: )?(.+?): ${reasons}$`,
    'i',
  ).exec(line);
  return match?.[1] ?? new RegExp(`^(?:/usr/bin/)?env: ['‘"]?(.+?)['’"]?: ${reasons}$`, 'i').exec(line)?.[1] ?? null;
}

/** Text as a pattern that matches it. */
function literal(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
