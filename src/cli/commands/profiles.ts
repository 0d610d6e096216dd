import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';
import { writeValue } from '../../wire/write-value.ts';
import type { Context, Invocation } from '../context.ts';
import { layoutTable } from '../output/table.ts';

/** Lists named profiles, or shows one. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const client = await context.client();
  const profiles = await client.profiles.list();
  const [name] = args;
  if (name === undefined) {
    const rows = profiles.map((one) => [one.name, String(one.revision), summaryOf(one.source)]);
    context.output.answer(profiles, (width) =>
      rows.length === 0
        ? 'no profiles (yard apply FILE makes one)'
        : layoutTable(['NAME', 'REVISION', 'VALUES'], rows, width),
    );
    return 0;
  }
  const found = profiles.find((one) => one.name === name);
  if (found === undefined) {
    throw new RefusalError(
      refuse('NOT_FOUND', `there is no profile ${JSON.stringify(name)}`, { hint: 'yard profiles lists them' }),
    );
  }
  context.output.answer(found, () => `${found.name}  revision ${found.revision}\n  ${summaryOf(found.source)}`);
  return 0;
}

function summaryOf(source: unknown): string {
  const table = typeof source === 'object' && source !== null && 'profile' in source ? source.profile : {};
  const entries = Object.entries(table ?? {}).filter(([key]) => key !== 'name');
  return entries.map(([key, value]) => `${key} = ${writeValue(value)}`).join(', ');
}
