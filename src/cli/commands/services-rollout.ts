import type { ServiceHandle } from '../../client/api.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { updatedText } from '../services/service-frame.ts';
import { UsageError } from '../usage-error.ts';

/** The rollout goes no further until it is resumed; what runs is left as it is. */
export function pause(context: Context, { args }: Invocation): Promise<number> {
  return change(context, args, (service) => service.pauseRollout());
}

/** Goes on with a rollout that was paused or has failed; it has a deadline anew. */
export function resume(context: Context, { args }: Invocation): Promise<number> {
  return change(context, args, (service) => service.resumeRollout());
}

/** Back to the revision before, or to the one named. */
export function undo(context: Context, { args, options }: Invocation): Promise<number> {
  const to = textOption(options, 'to');
  if (to !== undefined && !/^\d{1,9}$/.test(to)) {
    throw new UsageError(`--to is ${JSON.stringify(to)}; expected the number of a revision`);
  }
  return change(context, args, (service) => service.undoRollout(to === undefined ? {} : { to: Number(to) }));
}

async function change(
  context: Context,
  args: readonly string[],
  ask: (service: ServiceHandle) => Promise<void>,
): Promise<number> {
  const service = await (await context.client()).services.get(args[0] ?? '');
  await ask(service);
  const view = await service.view();
  const { rollout, name, desired } = view;
  const way = rollout === null ? 'no rollout' : `rollout ${rollout.from} → ${rollout.to} is ${rollout.state}`;
  const updated = rollout === null ? '' : `, ${updatedText(rollout, desired)}`;
  context.output.answer(view, () => `${name}  ${way}${updated}  yard services ${name} --watch`);
  return 0;
}
