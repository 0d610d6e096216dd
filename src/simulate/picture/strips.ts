import type { SimulationReport } from '../report.ts';
import { type Panel, xOf } from './panel.ts';
import { element, text } from './svg.ts';

const rowHeight = 18;
const gap = 6;
const mostRows = 12;
const columns = 160;

export function stripsHeight({ series }: SimulationReport): number {
  const rows = Math.min(mostRows, series.byGroup.length);
  return rows * (rowHeight + gap) - gap;
}

/** One row a kind of node: the deeper the colour, the fuller it was. */
export function drawStrips({ series }: SimulationReport, panel: Panel): string {
  const shown = series.byGroup.slice(0, mostRows);
  const left = series.byGroup.length - shown.length;
  const title =
    left === 0 ? 'how full each kind of node was' : `how full each kind of node was (${left} more are not drawn)`;
  const rows = shown.map(({ name, binMs, values, capacity }, row) => {
    const y = panel.top + row * (rowHeight + gap);
    const empty = { class: 'empty', x: panel.left, y, width: panel.width, height: rowHeight, rx: 3 };
    const label = name.length > 10 ? `${name.slice(0, 9)}…` : name;
    const cells = cellsOf({ binMs, values, capacity }, panel, y);
    return [text(panel.left - 8, y + 13, label, { 'text-anchor': 'end' }), element('rect', empty), ...cells].join('\n');
  });
  return [text(panel.left, panel.top - 10, title, { class: 'panel' }), ...rows].join('\n');
}

function cellsOf(
  {
    binMs,
    values,
    capacity,
  }: { readonly binMs: number; readonly values: readonly number[]; readonly capacity: number },
  panel: Panel,
  y: number,
): readonly string[] {
  const perCell = Math.max(1, Math.ceil(values.length / columns));
  const cells: string[] = [];
  for (let from = 0; from < values.length; from += perCell) {
    const bins = values.slice(from, from + perCell);
    const share = bins.reduce((sum, value) => sum + value, 0) / bins.length / Math.max(1e-9, capacity);
    if (share <= 0.005) continue;
    const [x, to] = [xOf(panel, from * binMs), xOf(panel, (from + bins.length) * binMs)];
    const opacity = Math.round(100 * (0.08 + 0.92 * Math.min(1, share))) / 100;
    cells.push(
      element('rect', { class: 'heat', x, y, width: to - x + 0.3, height: rowHeight, 'fill-opacity': String(opacity) }),
    );
  }
  return cells;
}
