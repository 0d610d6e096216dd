import type { TokenView } from '../../client/api.ts';
import type { Context } from '../context.ts';
import { layoutTable } from '../output/table.ts';

/** Lists tokens; their secrets are kept nowhere. */
export async function execute(context: Context): Promise<number> {
  const tokens = await (await context.client()).tokens.list();
  context.output.answer(tokens, (width) =>
    tokens.length === 0 ? 'no tokens (yard tokens create makes one)' : tokensTable(tokens, width),
  );
  return 0;
}

function tokensTable(tokens: readonly TokenView[], width: number | null): string {
  const rows = tokens.map((token) => [
    token.id,
    lettingIn(token),
    scopeOf(token),
    minute(token.createdAt),
    token.expiresAt === null ? 'never' : minute(token.expiresAt),
    token.createdBy,
  ]);
  return layoutTable(['ID', 'FOR', 'GOOD FOR', 'CREATED (UTC)', 'EXPIRES (UTC)', 'BY'], rows, width);
}

function lettingIn({ kind, user, node }: TokenView): string {
  if (kind === 'user') return user ?? '';
  return node === null ? 'a node' : `node ${node}`;
}

function scopeOf({ kind, admin, project }: TokenView): string {
  if (kind === 'join') return 'joining once';
  if (admin) return 'everything';
  return project === null ? "the user's projects" : `project ${project}`;
}

function minute(time: string): string {
  return time.replace('T', ' ').slice(0, 16);
}
