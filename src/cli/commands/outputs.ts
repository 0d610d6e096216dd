import { relative, resolve } from 'node:path';
import type { OutputView } from '../../core/job/view.ts';
import { describeBytes } from '../../core/units.ts';
import { type Context, flagOption, type Invocation, textOption } from '../context.ts';
import { failed } from '../exit-code.ts';
import { outputsLine } from '../follow/ending.ts';
import { layoutTable } from '../output/table.ts';

/** Lists outputs, or brings them home; of a live job what there is so far. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const [reference = '', ...paths] = args;
  const client = await context.client();
  const job = await client.jobs.get(reference);
  if (flagOption(options, 'list')) {
    const outputs = await job.outputs();
    context.output.answer(outputs, (width) => outputsTable(outputs, width));
    return 0;
  }
  const to = textOption(options, 'to') ?? `outputs/${job.id}`;
  const landed = await job.land({ to: resolve(context.cwd, to), ...(paths.length === 0 ? {} : { paths }) });
  if (context.output.kind === 'json') {
    context.output.answer(landed, () => '');
    return 0;
  }
  context.output.status(outputsLine(job.id, landed, to));
  for (const { landedAt } of landed) {
    if (landedAt !== null) context.output.item({}, () => relative(context.cwd, landedAt) || '.');
  }
  const wanted = paths.length > 0 && landed.some(({ state }) => state !== 'collected');
  return wanted ? failed : 0;
}

export function outputsTable(outputs: readonly OutputView[], width: number | null): string {
  if (outputs.length === 0) return 'no outputs are declared';
  const rows = outputs.map(({ index, path, state, size, why }) => [
    index === null ? path : `${index}/${path}`,
    state,
    size === undefined ? '–' : describeBytes(size),
    why ?? '',
  ]);
  return layoutTable(['OUTPUT', 'STATE', 'SIZE', 'WHY'], rows, width);
}
