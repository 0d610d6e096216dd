import type { Tick } from './scale.ts';
import { element, short, text } from './svg.ts';

/** A box on the page with time from left to right and amounts from below. */
export interface Panel {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly endMs: number;
  readonly most: number;
}

export function xOf({ left, width, endMs }: Panel, atMs: number): number {
  return left + (width * Math.min(atMs, endMs)) / Math.max(1, endMs);
}

export function yOf({ top, height, most }: Panel, amount: number): number {
  return top + height - (height * Math.min(amount, most)) / Math.max(1e-9, most);
}

/** Its head, lines across at these amounts with their labels, and a line below. */
export function frame(
  panel: Panel,
  title: string,
  lines: readonly { readonly at: number; readonly label: string }[],
): string {
  const { left, top, width, height } = panel;
  const across = lines.map(({ at, label }) => {
    const y = yOf(panel, at);
    const line = element('line', { class: at === 0 ? 'axis' : 'grid', x1: left, x2: left + width, y1: y, y2: y });
    return line + text(left - 8, y + 4, label, { 'text-anchor': 'end' });
  });
  const head = text(left, top - 10, title, { class: 'panel' });
  const foot = element('line', { class: 'axis', x1: left, x2: left + width, y1: top + height, y2: top + height });
  return [head, ...across, foot].join('\n');
}

/** Lines down at the ticks of time. */
export function downLines(panel: Panel, ticks: readonly Tick[]): string {
  const { top, height } = panel;
  return ticks
    .map(({ atMs }) => {
      const x = xOf(panel, atMs);
      return element('line', { class: 'grid', x1: x, x2: x, y1: top, y2: top + height });
    })
    .join('\n');
}

/** The area between two rows of amounts, a step a bin: nothing is drawn that was not. */
export function area(panel: Panel, binMs: number, low: readonly number[], high: readonly number[]): string {
  const up: string[] = [];
  const down: string[] = [];
  for (const [bin, value] of high.entries()) {
    const [from, to] = [xOf(panel, bin * binMs), xOf(panel, (bin + 1) * binMs)].map(short);
    const [above, below] = [yOf(panel, value), yOf(panel, low[bin] ?? 0)].map(short);
    up.push(`${from},${above} ${to},${above}`);
    down.push(`${to},${below} ${from},${below}`);
  }
  return `M${up.join(' L')} L${down.reverse().join(' L')} Z`;
}

/** The same as a line. */
export function stair(panel: Panel, binMs: number, values: readonly number[]): string {
  const points = values.map((value, bin) => {
    const y = short(yOf(panel, value));
    return `${short(xOf(panel, bin * binMs))},${y} ${short(xOf(panel, (bin + 1) * binMs))},${y}`;
  });
  return `M${points.join(' L')}`;
}
