import { parseDurationMs } from '../../core/units.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { UsageError } from '../usage-error.ts';

/** No new work for the node; what runs goes on, until the deadline where there is one. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const [name = ''] = args;
  const reason = textOption(options, 'reason');
  const deadline = textOption(options, 'deadline');
  const deadlineMs = deadline === undefined ? undefined : parseDurationMs(deadline);
  if (deadlineMs === null) {
    throw new UsageError(`--deadline is ${JSON.stringify(deadline)}; expected a duration such as 10m`);
  }
  const client = await context.client();
  await client.nodes.drain(name, {
    ...(reason === undefined ? {} : { reason }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  });
  const node = await client.nodes.get(name);
  const until = deadline === undefined ? '' : `, stopped in ${deadline}`;
  const left = node.tasks.length === 0 ? 'nothing runs on it' : `${node.tasks.length} still on it${until}`;
  context.output.answer(node, () => `${name}  ${node.state}  ${left}`);
  return 0;
}
