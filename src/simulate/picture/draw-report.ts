import { describeDuration } from '../../core/units.ts';
import type { Series } from '../ledger/timeline.ts';
import type { SimulationReport } from '../report.ts';
import { bandColours, othersColour, style } from './look.ts';
import { area, downLines, frame, type Panel, stair, xOf } from './panel.ts';
import { niceCeiling, type Tick, timeTicks } from './scale.ts';
import { drawStrips, stripsHeight } from './strips.ts';
import { element, escapeXml, text } from './svg.ts';

const width = 960;
const left = 76;
const plotWidth = width - left - 28;
const useHeight = 220;
const queueHeight = 84;

/** The timeline of a simulation as one SVG: who used the cluster, what waited, and how full each kind of node was. */
export function drawReport(full: SimulationReport): string {
  const report = { ...full, series: coarser(full.series) };
  const { series, endMs, start } = report;
  const ticks = timeTicks(endMs, start === null ? null : Date.parse(start));
  const bands = bandsOf(report);
  const legend = drawLegend(bands, 86);
  const use = panelAt(legend.bottom + 40, useHeight, endMs, niceTop(Math.max(...series.capacity.values, 1)));
  const queueMost = niceCeiling(Math.max(...series.waiting.values, 1));
  const queue = panelAt(use.top + useHeight + 46, queueHeight, endMs, queueMost);
  const strips = panelAt(queue.top + queueHeight + 46, stripsHeight(report), endMs, 1);
  const axisY = strips.top + strips.height + 20;
  const height = axisY + 24;
  const parts = [
    element('style', {}, escapeStyle(style)),
    element('rect', { class: 'ground', width, height, rx: 8 }),
    text(28, 38, report.title, { class: 'title' }),
    text(28, 60, subtitle(report)),
    legend.drawn,
    downLines(use, ticks),
    frame(use, `${series.unit} in use`, shares(use.most)),
    ...bands.map(({ colour, low, high }) => {
      return element('path', { d: area(use, series.used.binMs, low, high), fill: colour, 'fill-opacity': 0.88 });
    }),
    element('path', { class: 'limit', d: stair(use, series.capacity.binMs, series.capacity.values) }),
    downLines(queue, ticks),
    frame(
      queue,
      'waiting',
      [0, queueMost / 2, queueMost].map((at) => ({ at, label: amount(at) })),
    ),
    element('path', { class: 'queue', d: area(queue, series.waiting.binMs, [], series.waiting.values) }),
    drawStrips(report, strips),
    drawTimes(strips, ticks, axisY, start !== null),
  ];
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${width} ${height}`,
    width,
    height,
    role: 'img',
  };
  return `${element('svg', attributes, `\n<title>${escapeXml(report.title)}</title>\n${parts.join('\n')}\n`)}\n`;
}

const mostBins = 256;

/** As fine as the page can show. */
function coarser({ used, capacity, waiting, byName, ...rest }: SimulationReport['series']): SimulationReport['series'] {
  const perBin = Math.ceil(used.values.length / mostBins);
  const merge = <One extends Series>(one: One): One => {
    const values: number[] = [];
    for (let from = 0; from < one.values.length; from += perBin) {
      const part = one.values.slice(from, from + perBin);
      values.push(part.reduce((sum, value) => sum + value, 0) / part.length);
    }
    return { ...one, binMs: one.binMs * perBin, values };
  };
  return { ...rest, used: merge(used), capacity: merge(capacity), waiting: merge(waiting), byName: byName.map(merge) };
}

interface Band {
  readonly name: string;
  readonly colour: string;
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/** The names that used most, one upon the other; what is left of them is one band. */
function bandsOf({ series }: SimulationReport): readonly Band[] {
  const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
  const bySize = [...series.byName].sort((a, b) => total(b.values) - total(a.values));
  const own = bySize.length <= bandColours.length ? bySize : bySize.slice(0, bandColours.length - 1);
  const rest = bySize.slice(own.length);
  const bins = series.used.values.length;
  let low: readonly number[] = [];
  const stack = (name: string, colour: string, values: readonly number[]): Band => {
    const from = low;
    const high = Array.from({ length: bins }, (_, bin) => (from[bin] ?? 0) + (values[bin] ?? 0));
    low = high;
    return { name, colour, low: from, high };
  };
  const bands = own
    .filter(({ values }) => total(values) > 0)
    .map(({ name, values }, position) => stack(name, bandColours[position] ?? othersColour, values));
  if (rest.length === 0) return bands;
  const sums = Array.from({ length: bins }, (_, bin) => rest.reduce((sum, { values }) => sum + (values[bin] ?? 0), 0));
  return [...bands, stack(`${rest.length} others`, othersColour, sums)];
}

function drawLegend(bands: readonly Band[], top: number): { readonly drawn: string; readonly bottom: number } {
  let x = 28;
  let y = top;
  const drawn = [...bands].map(({ name, colour }) => {
    const shown = name.length > 28 ? `${name.slice(0, 27)}…` : name;
    const needs = 30 + shown.length * 7.2;
    if (x + needs > width - 28) [x, y] = [28, y + 20];
    const square = element('rect', { x, y: y - 10, width: 11, height: 11, rx: 2, fill: colour });
    const label = text(x + 17, y, shown);
    x += needs;
    return square + label;
  });
  return { drawn: drawn.join('\n'), bottom: y };
}

function subtitle({ nodes, jobs, utilisation, makespanMs, ended, parts, series }: SimulationReport): string {
  const { gpus, cores } = utilisation;
  const used = gpus ?? cores;
  const full = `${series.unit} ${Math.round(used.mean * 100)} % full on average`;
  const end = ended === parts ? `done after ${describeDuration(makespanMs)}` : `${amount(parts - ended)} not ended`;
  return `${amount(nodes)} nodes, ${amount(used.capacity)} ${series.unit} · ${amount(jobs)} jobs · ${full} · ${end}`;
}

function drawTimes(panel: Panel, ticks: readonly Tick[], y: number, isDated: boolean): string {
  const labels = ticks.map(({ atMs, label }) => {
    const x = xOf(panel, atMs);
    const anchor = x < panel.left + 20 ? 'start' : x > panel.left + panel.width - 20 ? 'end' : 'middle';
    return text(x, y, label, { 'text-anchor': anchor });
  });
  const zone = isDated ? text(panel.left - 8, y, 'UTC', { 'text-anchor': 'end' }) : '';
  return [...labels, zone].join('\n');
}

function panelAt(top: number, height: number, endMs: number, most: number): Panel {
  return { left, top, width: plotWidth, height, endMs, most };
}

/** A little room above what there is at most. */
function niceTop(capacity: number): number {
  return capacity * 1.04;
}

function shares(most: number): readonly { readonly at: number; readonly label: string }[] {
  const capacity = most / 1.04;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => ({ at: share * capacity, label: amount(share * capacity) }));
}

function amount(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString('en');
}

/** Our own text: nothing in it closes the element. */
function escapeStyle(css: string): string {
  return css.replaceAll('<', '');
}
