import type { SecretView } from '../../client/api.ts';
import { type Context, type Invocation, textOption } from '../context.ts';
import { layoutTable } from '../output/table.ts';

/** Lists secrets: names, who set them, and which nodes can open them. There is no command that shows a value. */
export async function execute(context: Context, { options }: Invocation): Promise<number> {
  const project = textOption(options, 'project');
  const { secrets } = await context.client();
  const found = await secrets.list(project === undefined ? {} : { project });
  context.output.answer(found, (width) =>
    found.length === 0 ? 'no secrets (yard secrets set NAME sets one)' : secretsTable(found, width),
  );
  return 0;
}

function secretsTable(secrets: readonly SecretView[], width: number | null): string {
  const rows = secrets.map((secret) => [
    secret.name,
    secret.project ?? '–',
    secret.setBy ?? '–',
    secret.setAt?.replace('T', ' ').slice(0, 16) ?? '–',
    nodesOf(secret),
  ]);
  return layoutTable(['NAME', 'PROJECT', 'SET BY', 'SET AT (UTC)', 'NODES'], rows, width);
}

function nodesOf({ nodes, closedTo, project }: SecretView): string {
  if (project === null) return `stays on ${nodes.join(', ')}`;
  if (nodes.length === 0) return closedTo.length === 0 ? 'the first that joins' : 'none can open it: set it again';
  return closedTo.length === 0 ? nodes.join(', ') : `${nodes.join(', ')}, not ${closedTo.join(', ')}`;
}
