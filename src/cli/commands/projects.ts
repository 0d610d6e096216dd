import type { ProjectView, Quota } from '../../client/api.ts';
import type { Context, Invocation } from '../context.ts';
import { layoutTable } from '../output/table.ts';

/** Lists projects, or shows one in full. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const { projects } = await context.client();
  const [name] = args;
  if (name !== undefined) {
    const project = await projects.get(name);
    context.output.answer(project, () => projectInFull(project));
    return 0;
  }
  const found = await projects.list();
  context.output.answer(found, (width) =>
    found.length === 0 ? 'no projects: ask an administrator to let you into one' : projectsTable(found, width),
  );
  return 0;
}

const limited = ['replicas', 'gpus', 'cores', 'queued'] as const satisfies readonly (keyof Quota)[];

function projectsTable(projects: readonly ProjectView[], width: number | null): string {
  const rows = projects.map((project) => [
    project.name,
    ...limited.map((key) => usedOf(project, key, '/')),
    String(Object.keys(project.members).length),
    project.everyone ?? '–',
  ]);
  return layoutTable(['NAME', 'REPLICAS', 'GPUS', 'CORES', 'QUEUED', 'MEMBERS', 'EVERYONE'], rows, width);
}

/** What was answered to a change, too. */
export function projectInFull(project: ProjectView): string {
  const members = Object.entries(project.members).map(([user, role]) => `${user} ${role}`);
  const lines: readonly (readonly [string, string])[] = [
    ...limited.map((key) => [key, usedOf(project, key, ' of ')] as const),
    ['everyone', project.everyone ?? 'members only'],
    ['members', members.join(', ') || 'none'],
  ];
  return [project.name, ...lines.map(([key, value]) => `  ${key.padEnd(10)}${value}`)].join('\n');
}

/** `3/8`; what has no limit stands alone. */
function usedOf({ used, quota }: ProjectView, key: keyof Quota, between: string): string {
  return quota[key] === null ? String(used[key]) : `${used[key]}${between}${quota[key]}`;
}
