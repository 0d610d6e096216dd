import type { Context } from '../context.ts';
import { UsageError } from '../usage-error.ts';
import { readGivenFile } from './read-given-file.ts';

/**
 * The value of a secret: a file's bytes as they are, what comes on stdin, or what is typed at the terminal without
 * being shown; of the last two one line end is taken off. Never an argument, which everybody on the machine could read.
 */
export async function readSecretValue(context: Context, name: string, file: string | undefined): Promise<Uint8Array> {
  if (file !== undefined) return readGivenFile(context, '--from-file', file);
  const { secretInput } = context;
  const value = secretInput === undefined ? await context.readStdin() : await secretInput(`value of secret ${name}: `);
  const line = value.replace(/\r?\n$/, '');
  if (line === '') {
    throw new UsageError('there is no value for the secret', `yard secrets set ${name} --from-file F, or on stdin`);
  }
  return new TextEncoder().encode(line);
}
