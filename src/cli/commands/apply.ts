import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { parseProfileFile } from '../../wire/parse-file.ts';
import type { Context, Invocation } from '../context.ts';

/** Applies profile files: unchanged ones say so, changed ones make the next revision. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const profiles = await Promise.all(
    args.map(async (file) => parseProfileFile(await readFile(resolve(context.cwd, file), 'utf8'), file)),
  );
  const client = await context.client();
  for (const { name, source } of profiles) {
    const { revision, changed } = await client.profiles.apply(source);
    const before = revision === 1 ? 'revision 1' : `revision ${revision - 1} → ${revision}`;
    context.output.item({ name, revision, changed }, () => `${name}  ${changed ? before : 'unchanged'}`);
  }
  return 0;
}
