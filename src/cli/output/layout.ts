import type { ErrorReport, StatusLine } from './output.ts';
import { paint, type Streams } from './streams.ts';

const labelWidth = 17;
const gap = '   ';
const longestBar = 20;
const shortestBar = 5;

/** One status line; `width` is the terminal's, null in a pipe. A line that is replaced in place must fit. */
export function layoutStatus(streams: Streams, line: StatusLine, width: number | null): string {
  const start = `${line.id}  `;
  if (line.tone === 'bad') return `${start}${paint(streams, 'red', line.label)}  ${line.detail}${below(line)}`;
  const label = line.label.padEnd(labelWidth);
  const shown = line.tone === undefined ? label : paint(streams, line.tone === 'good' ? 'green' : 'yellow', label);
  const plain = `${start}${label}${gap}`;
  const tail = detailOf(line, width === null ? null : width - plain.length);
  return `${`${start}${shown}${gap}${tail}`.trimEnd()}${below(line)}`;
}

function detailOf(line: StatusLine, room: number | null): string {
  const { detail, hint, fraction, afterBar = '' } = line;
  if (fraction !== undefined) {
    const percent = `${String(Math.floor(fraction * 100)).padStart(3)} %`;
    const free = room === null ? 0 : room - detail.length - percent.length - afterBar.length - 5;
    if (free < shortestBar) return [detail, room === null ? '' : percent.trim(), afterBar].filter(Boolean).join('  ');
    const length = Math.min(longestBar, free);
    const done = Math.round(fraction * length);
    return `${detail}  ${'━'.repeat(done)}${'─'.repeat(length - done)} ${percent.trim()}  ${afterBar}`;
  }
  if (hint === undefined) return detail;
  const apart = detail === '' ? '' : `${detail.padEnd(labelWidth - 3)}${gap}`;
  if (room === null || apart.length + hint.length <= room) return `${apart}${hint}`;
  return detail.length + 2 + hint.length <= room ? `${detail}  ${hint}` : detail;
}

function below(line: StatusLine): string {
  return (line.below ?? []).map((one) => `\n  ${one}`).join('');
}

/** `error: …` with its excerpt and its hint, each line of them indented by two. */
export function layoutError(streams: Streams, report: ErrorReport): string {
  const lines = [`${paint(streams, 'red', 'error:')} ${report.message}`];
  for (const part of [report.excerpt, report.hint]) {
    if (part !== null) lines.push(...part.split('\n').map((line) => `  ${line}`));
  }
  return lines.join('\n');
}
