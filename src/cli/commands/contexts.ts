import { prepareHome } from '../../client/home.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { type Contexts, embeddedName, readContexts, writeContexts } from '../../client/remote/contexts.ts';
import { refuse } from '../../core/refusal.ts';
import type { Context, Invocation } from '../context.ts';
import { layoutTable } from '../output/table.ts';

/** Lists the servers that one is signed in to. Never a token. */
export async function execute(context: Context): Promise<number> {
  const { contexts, ...kept } = await Promise.resolve(readContexts(context.home));
  const { RUNYARD_SERVER: named = '' } = context.env;
  const current = named === '' ? kept.current : undefined;
  const rows = [
    { name: embeddedName, url: null as string | null, user: null as string | null, inUse: current === null },
    ...Object.entries(contexts).map(([name, { url, user }]) => ({ name, url, user, inUse: name === current })),
  ];
  context.output.answer(rows, (width) =>
    layoutTable(
      ['NAME', 'IN USE', 'USER', 'SERVER'],
      rows.map(({ name, url, user, inUse }) => [name, inUse ? 'yes' : '', user ?? '–', url ?? `none: ${context.home}`]),
      width,
    ),
  );
  if (named !== '') context.output.note(`RUNYARD_SERVER comes first: commands are about ${named}`);
  return 0;
}

/** From now on commands are about this one. */
export async function use(context: Context, { args }: Invocation): Promise<number> {
  const [name = ''] = args;
  const home = await prepareHome(context.home);
  const all = readContexts(home);
  if (name !== embeddedName) requireContext(all, name);
  writeContexts(home, { ...all, current: name === embeddedName ? null : name });
  const { RUNYARD_SERVER: named = '' } = context.env;
  if (named !== '') context.output.note(`RUNYARD_SERVER comes first: commands are about ${named} until it is unset`);
  const where = all.contexts[name]?.url ?? context.home;
  context.output.answer({ name, inUse: true }, () => `${name}  in use  ${where}`);
  return 0;
}

/** Forgets a server, and with it the token that was kept for it. */
export async function remove(context: Context, { args }: Invocation): Promise<number> {
  const [name = ''] = args;
  const home = await prepareHome(context.home);
  const all = readContexts(home);
  requireContext(all, name);
  const contexts = Object.fromEntries(Object.entries(all.contexts).filter(([one]) => one !== name));
  writeContexts(home, { current: all.current === name ? null : all.current, contexts });
  context.output.answer({ name, removed: true }, () => `${name}  removed`);
  return 0;
}

function requireContext({ contexts }: Contexts, name: string): void {
  if (Object.hasOwn(contexts, name)) return;
  const names = Object.keys(contexts).join(', ');
  const hint = names === '' ? 'yard login URL makes one' : `there are: ${names}`;
  throw new RefusalError(refuse('NOT_FOUND', `there is no context ${JSON.stringify(name)}`, { hint }));
}
