import { resolve } from 'node:path';
import type { RunyardClient, SettingView } from '../../client/api.ts';
import { serviceKeys } from '../../wire/key-advice.ts';
import type { Context } from '../context.ts';
import { layoutTable } from '../output/table.ts';
import { checkWorkspace } from './check-workspace.ts';
import type { JobRequest } from './read-request.ts';

/** `--dry-run`: effective values with their origins, and whether and where it would fit. */
export async function showPreview(
  context: Context,
  client: RunyardClient,
  { submission, project, baseDirectory, workspaceOf }: JobRequest,
): Promise<number> {
  const { workspace } = submission.spec;
  if (workspace !== null && workspaceOf === null) await checkWorkspace(resolve(baseDirectory, workspace.workdir));
  const preview = await client.jobs.preview(submission, project === null ? {} : { project });
  const verdict =
    preview.node === null ? `would wait: ${preview.waiting?.message ?? 'no node fits'}` : `would go to ${preview.node}`;
  context.output.answer(preview, (width) =>
    [
      `${submission.spec.name}  ${verdict}`,
      '',
      settingsTable(preview.settings, width),
      '',
      'nothing was submitted',
    ].join('\n'),
  );
  return 0;
}

/** What only services have is left out for a job where nobody set it. Values come last: they may be long, and wrap. */
export function settingsTable(settings: readonly SettingView[], width: number | null): string {
  const staysUp = settings.some(({ key, value }) => key === 'kind' && value === '"service"');
  const shown = settings.filter(
    ({ key, origin }) => staysUp || origin !== 'built-in' || !serviceKeys.has(key.split('.')[0] ?? ''),
  );
  return layoutTable(
    ['KEY', 'FROM', 'VALUE'],
    shown.map(({ key, value, origin }) => [key, origin, value]),
    width,
  );
}
