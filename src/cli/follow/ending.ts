import type { LandedOutput } from '../../client/api.ts';
import type { JobView } from '../../core/job/view.ts';
import { isSuccess } from '../../core/reason.ts';
import { describeDuration } from '../../core/units.ts';
import type { StatusLine } from '../output/output.ts';
import { arrayDetail } from './narrator.ts';
import { whatNext } from './what-next.ts';

/** `outputs  2 collected, 1 missing (checkpoint.pt) → outputs/digits-k3f9q2`. */
export function outputsLine(id: string, landed: readonly LandedOutput[], shownPlace: string): StatusLine {
  const collected = landed.filter(({ state }) => state === 'collected').length;
  const parts = [`${collected} collected`, named('missing', landed), named('refused', landed)].filter(Boolean);
  const arrow = collected > 0 ? ` → ${shownPlace}` : '';
  return {
    id,
    label: 'outputs',
    detail: `${parts.join(', ')}${arrow}`,
    document: { kind: 'outputs', job: id, outputs: landed },
  };
}

function named(state: 'missing' | 'refused', landed: readonly LandedOutput[]): string {
  const those = landed.filter((output) => output.state === state);
  if (those.length === 0) return '';
  const names = those.slice(0, 3).map(({ index, path, why }) => {
    const where = index === null ? path : `${index}/${path}`;
    return state === 'refused' && why !== undefined ? `${where}: ${why}` : where;
  });
  return `${those.length} ${state} (${names.join(', ')}${those.length > 3 ? ', …' : ''})`;
}

/** `COMPLETED  exited with code 0 after 1 min 8 s`, or what failed and what to do next. */
export function endLine(view: JobView): StatusLine {
  const { id, outcome, array } = view;
  const document = { kind: 'ended', job: view };
  if (outcome === null) return { id, label: view.state, detail: '', document };
  const counts =
    array === null
      ? ''
      : ` (${arrayDetail({ done: array.completed + array.failed, size: array.size, failed: array.failed })})`;
  if (!isSuccess(outcome)) {
    return { id, label: 'FAILED', detail: outcome.message, tone: 'bad', below: whatNext(view), document };
  }
  const tookMs =
    view.startedAt === null || view.endedAt === null ? null : Date.parse(view.endedAt) - Date.parse(view.startedAt);
  const after = tookMs === null ? '' : ` after ${describeDuration(tookMs)}`;
  return { id, label: 'COMPLETED', detail: `${outcome.message}${counts}${after}`, tone: 'good', document };
}
