import type { RunyardClient, SettingView } from '../../client/api.ts';
import { serviceKeys } from '../../wire/key-advice.ts';
import type { Submission } from '../../wire/submission.ts';
import type { Context } from '../context.ts';
import { layoutTable } from '../output/table.ts';

/** `--dry-run`: effective values with their origins, and whether and where it would fit. */
export async function showPreview(context: Context, client: RunyardClient, submission: Submission): Promise<number> {
  const preview = await client.jobs.preview(submission);
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

/** What only services have is left out where nobody set it. */
export function settingsTable(settings: readonly SettingView[], width: number | null): string {
  const shown = settings.filter(
    ({ key, origin }) => origin !== 'built-in' || !serviceKeys.has(key.split('.')[0] ?? ''),
  );
  return layoutTable(
    ['KEY', 'VALUE', 'FROM'],
    shown.map(({ key, value, origin }) => [key, value, origin]),
    width,
  );
}
