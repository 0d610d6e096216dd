import type { RunyardClient, SettingView } from '../../client/api.ts';
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

export function settingsTable(settings: readonly SettingView[], width: number | null): string {
  return layoutTable(
    ['KEY', 'VALUE', 'FROM'],
    settings.map(({ key, value, origin }) => [key, value, origin]),
    width,
  );
}
