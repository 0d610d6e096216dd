import type { RunyardClient } from '../../client/api.ts';
import type { ServiceView } from '../../core/service/view.ts';
import { type Context, flagOption, type Invocation } from '../context.ts';
import { lookAgainMs, showAgain } from '../follow/show-again.ts';
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
  const { output } = context;
  const service = await client.services.get(name);
  const end = new AbortController();
  const release = context.onSignal('SIGINT', () => end.abort());
  let last: ServiceView | null = null;
  const draw = (): void => {
    if (last !== null) output.frame(serviceFrame(last, Date.now()));
  };
  const timer = output.inPlace ? setInterval(draw, lookAgainMs) : null;
  try {
    for await (const view of service.watch({ signal: end.signal })) {
      last = view;
      if (output.inPlace) draw();
      else output.item(view, () => serviceInFull(view, Date.now(), null));
    }
  } finally {
    if (timer !== null) clearInterval(timer);
    output.frame(null);
    release();
  }
  if (!end.signal.aborted) output.note(`${name}  was removed`);
  return 0;
}
