import type { RunyardClient } from '../../client/api.ts';
import { type Context, flagOption, type Invocation } from '../context.ts';
import { showAgain } from '../follow/show-again.ts';
import type { Answer } from '../output/output.ts';
import { serviceFrame } from '../services/service-frame.ts';
import { serviceInFull } from '../services/service-in-full.ts';
import { servicesTable } from '../services/services-table.ts';

/** Lists services, or shows one in full; with `--watch` again after every change. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const client = await context.client();
  const [name] = args;
  const watches = flagOption(options, 'watch');
  if (name === undefined) {
    const { answer, answerAgain } = context.output;
    if (watches) return showAgain(context, client, () => showList(answerAgain, client));
    await showList(answer, client);
    return 0;
  }
  if (watches) return watch(context, client, name);
  const service = await client.services.get(name);
  const view = await service.view();
  context.output.answer(view, (width) => serviceInFull(view, Date.now(), width));
  return 0;
}

async function showList(answer: Answer, client: RunyardClient): Promise<void> {
  const services = await client.services.list();
  answer(services, (width) =>
    services.length === 0 ? 'no services (yard apply FILE makes one)' : servicesTable(services, width),
  );
}

async function watch(context: Context, client: RunyardClient, name: string): Promise<number> {
  const service = await client.services.get(name);
  const end = new AbortController();
  const release = context.onSignal('SIGINT', () => end.abort());
  try {
    for await (const view of service.watch({ signal: end.signal })) {
      if (context.output.inPlace) context.output.frame(serviceFrame(view, Date.now()));
      else context.output.item(view, () => serviceInFull(view, Date.now(), null));
    }
  } finally {
    context.output.frame(null);
    release();
  }
  return 0;
}
