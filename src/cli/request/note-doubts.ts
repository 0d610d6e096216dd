import { lstat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { isLikePattern } from '../../blobs/output-pattern.ts';
import type { Submission } from '../../wire/submission.ts';
import type { Output } from '../output/output.ts';

/**
 * Says what is allowed and hardly ever meant, before the work runs for hours. `baseDirectory` is where the workspace is
 * taken from; null when it is that of an earlier job.
 */
export async function noteDoubts(output: Output, submission: Submission, baseDirectory: string | null): Promise<void> {
  notePatterns(output, submission.spec.outputs);
  if (baseDirectory !== null) await noteReuse(output, submission, baseDirectory);
}

/** There may be a file of that very name. */
function notePatterns(output: Output, outputs: readonly string[]): void {
  const patterns = outputs.filter(isLikePattern);
  if (patterns.length === 0) return;
  output.note(`outputs are names, and patterns are not expanded: ${patterns.join(', ')} (name each file, or a folder)`);
}

/** A file that comes later starts setup anew; one whose name is wrong never does, whatever changes. */
async function noteReuse(output: Output, { spec, layers }: Submission, baseDirectory: string): Promise<void> {
  if (spec.workspace === null || spec.setup === null) return;
  const paths = layers.findLast(({ values }) => values.setupReuse !== undefined)?.values.setupReuse ?? [];
  const absent: string[] = [];
  for (const path of paths) {
    const found = await lstat(resolve(baseDirectory, spec.workspace.workdir, path)).catch(() => null);
    if (found === null) absent.push(path);
  }
  if (absent.length === 0) return;
  output.note(`setupReuse names what is not in the workspace: ${absent.join(', ')} (it starts setup anew once it is)`);
}
