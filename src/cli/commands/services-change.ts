import type { ServiceHandle } from '../../client/api.ts';
import type { ServiceView } from '../../core/service/view.ts';
import type { Context, Invocation } from '../context.ts';
import { listOption } from '../context.ts';
import { UsageError } from '../usage-error.ts';

const startsAgain = 'applying its file starts it again';

/** Another number of replicas; those named go first. */
export async function scale(context: Context, { args, options }: Invocation): Promise<number> {
  const [name = '', count = ''] = args;
  if (!/^\d{1,9}$/.test(count)) {
    throw new UsageError(`${JSON.stringify(count)} is no number of replicas`, `yard services scale ${name} 2`);
  }
  const service = await (await context.client()).services.get(name);
  const remove = await Promise.all(listOption(options, 'remove').map((reference) => replicaOf(service, reference)));
  await service.scale(Number(count), { remove });
  return answer(context, service, ({ state, ready }) =>
    state === 'STOPPED'
      ? `STOPPED, ${count} wanted once it starts  ${startsAgain}`
      : `scaled to ${count}, ${ready} ready`,
  );
}

/** Replaces every replica, one after the other. */
export async function restart(context: Context, { args }: Invocation): Promise<number> {
  const service = await (await context.client()).services.get(args[0] ?? '');
  const { revision } = await service.restart();
  return answer(context, service, () => `restarting as revision ${revision}  yard services ${service.name} --watch`);
}

/** Ends every replica; the service is kept. */
export async function stop(context: Context, { args }: Invocation): Promise<number> {
  const service = await (await context.client()).services.get(args[0] ?? '');
  await service.stop();
  return answer(context, service, () => `STOPPED  ${startsAgain}`);
}

/** Ends every replica and forgets the service. */
export async function remove(context: Context, { args }: Invocation): Promise<number> {
  const service = await (await context.client()).services.get(args[0] ?? '');
  const view = await service.view();
  const ids = view.replicas.map(({ id }) => id);
  await service.remove();
  const what = ids.length === 0 ? '' : `, ${ids.length === 1 ? '1 replica is' : `${ids.length} replicas are`} stopping`;
  context.output.answer({ name: service.name, removed: true, stopping: ids }, () => `${service.name}  removed${what}`);
  return 0;
}

/** A replica by its whole id, or by as much of it as tells it from the others. */
async function replicaOf(service: ServiceHandle, reference: string): Promise<string> {
  const { replicas } = await service.view();
  const fitting = replicas.filter(({ id }) => id === reference || id.startsWith(reference));
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only.id;
  const ids = replicas.map(({ id }) => id).join(', ');
  const wrong = fitting.length === 0 ? `is no replica of ${service.name}` : `fits several replicas of ${service.name}`;
  throw new UsageError(`--remove ${reference} ${wrong}`, ids === '' ? 'it has none' : `it has: ${ids}`);
}

async function answer(context: Context, service: ServiceHandle, text: (view: ServiceView) => string): Promise<number> {
  const view = await service.view();
  context.output.answer(view, () => `${service.name}  ${text(view)}`);
  return 0;
}
