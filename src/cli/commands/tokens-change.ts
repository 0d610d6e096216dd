import type { CreatedToken, Tokens } from '../../client/api.ts';
import { parseDurationMs } from '../../core/units.ts';
import { type Context, flagOption, type Invocation, type Options, textOption } from '../context.ts';
import { pinToken } from '../request/pinned-token.ts';
import { UsageError } from '../usage-error.ts';

/** Makes a token. It alone goes to stdout, so that it can be put into a file. */
export async function create(context: Context, { options }: Invocation): Promise<number> {
  const isJoin = flagOption(options, 'join');
  checkTogether(options, isJoin);
  const { tokens } = await context.client();
  const created = isJoin ? await createJoin(tokens, options) : await createForUser(tokens, options);
  const token = await pinToken(context, created.token);
  context.output.answer({ ...created, token }, () => token);
  const until = created.expiresAt === null ? '' : `, until ${created.expiresAt.replace('T', ' ').slice(0, 16)} UTC`;
  context.output.note(`token ${created.id}: this is the only time that it is shown${until}`);
  return 0;
}

/** A token that lets nobody in any more. */
export async function remove(context: Context, { args }: Invocation): Promise<number> {
  const [id = ''] = args;
  await (await context.client()).tokens.revoke(id);
  context.output.answer({ id, removed: true }, () => `${id}  removed`);
  return 0;
}

function checkTogether(options: Options, isJoin: boolean): void {
  const own = isJoin ? ['user', 'project', 'admin'] : ['node'];
  const wrong = own.find((name) => options[name] !== undefined);
  if (wrong === undefined) return;
  const why = isJoin ? `--join makes a token for a node: --${wrong} is for users` : '--node is for --join';
  throw new UsageError(why, 'yard tokens create --help');
}

function createForUser(tokens: Tokens, options: Options): Promise<CreatedToken> {
  const user = textOption(options, 'user');
  const project = textOption(options, 'project');
  return tokens.create({
    ...(user === undefined ? {} : { user }),
    ...(project === undefined ? {} : { project }),
    ...lifetimeOf(options),
    admin: flagOption(options, 'admin'),
  });
}

function createJoin(tokens: Tokens, options: Options): Promise<CreatedToken> {
  const node = textOption(options, 'node');
  return tokens.createJoin({ ...(node === undefined ? {} : { node }), ...lifetimeOf(options) });
}

function lifetimeOf(options: Options): { readonly expiresMs?: number } {
  const typed = textOption(options, 'expires');
  if (typed === undefined) return {};
  const expiresMs = parseDurationMs(typed);
  if (expiresMs !== null) return { expiresMs };
  throw new UsageError(`--expires is ${JSON.stringify(typed)}`, 'write a duration such as 30d or 12h');
}
