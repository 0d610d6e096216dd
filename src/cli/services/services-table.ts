import type { ServiceView } from '../../core/service/view.ts';
import { layoutTable } from '../output/table.ts';

export function servicesTable(services: readonly ServiceView[], width: number | null): string {
  const rows = services.map((view) => [
    view.name,
    view.state,
    `${view.ready}/${view.desired}`,
    view.rollout?.state === 'progressing' && view.rollout.from !== view.rollout.to
      ? `${view.rollout.from} → ${view.rollout.to}`
      : String(view.revision),
    view.reason ?? '',
  ]);
  return layoutTable(['NAME', 'STATE', 'READY', 'REVISION', 'WHY'], rows, width);
}
