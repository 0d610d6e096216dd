import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Context } from '../context.ts';
import { UsageError } from '../usage-error.ts';

const wrong: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  EISDIR: 'is a folder',
  ENOTDIR: 'does not exist',
  EACCES: 'may not be read',
};

/** The bytes of a file that an option names. Throws a UsageError that says which option, what is wrong, and where it was looked for. */
export async function readGivenFile(context: Context, option: string, file: string): Promise<Buffer> {
  const path = resolve(context.cwd, file);
  try {
    return await readFile(path);
  } catch (error) {
    const what = wrong[(error as NodeJS.ErrnoException).code ?? ''];
    if (what === undefined) throw error;
    throw new UsageError(`${option} ${file} ${what}`, `it was looked for as ${path}`);
  }
}
