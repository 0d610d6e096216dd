#!/usr/bin/env node
/**
 * Turns a terminal's screen into an SVG, whose title is its first line (the command) unless an argument gives another:
 * `tmux capture-pane -e -p -t PANE | node scripts/terminal-picture.mjs [TITLE] > picture.svg`.
 * Knows what our own output uses: bold, dim, and the sixteen colours.
 */
import { readFileSync } from 'node:fs';

const cell = { width: 8.4, height: 19 };
const margin = 16;
const ground = '#16181d';
const ink = '#d6d9df';
const escapeCharacter = String.fromCharCode(27);
const colourCodes = new RegExp(`(${escapeCharacter}\\[[0-9;]*m)`);
const alphabetCodes = new RegExp(`${escapeCharacter}[()][A-Z0-9]`, 'g');
const palette = ['#6b7280', '#e5534b', '#57ab5a', '#c69026', '#539bf5', '#b083f0', '#39c5cf', '#d6d9df'];

const lines = readFileSync(0, 'utf8').replace(/\s+$/, '').split('\n');
const columns = Math.max(...lines.map((line) => [...strip(line)].length));
const width = Math.ceil(columns * cell.width + 2 * margin);
const height = lines.length * cell.height + 2 * margin;
const title = process.argv[2] ?? strip(lines[0] ?? '').trim();

process.stdout.write(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<title>${escapeXml(title)}</title>
<rect width="100%" height="100%" rx="8" fill="${ground}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="${ink}" xml:space="preserve">
${lines.map(drawLine).join('\n')}
</g>
</svg>
`);

function drawLine(line, row) {
  const y = margin + (row + 0.75) * cell.height;
  let column = 0;
  let style = { fill: null, bold: false, dim: false };
  const spans = line.split(colourCodes).map((part) => {
    if (part.startsWith(`${escapeCharacter}[`)) {
      style = applyCodes(style, part.slice(2, -1).split(';').map(Number));
      return '';
    }
    const text = part.replace(alphabetCodes, '');
    const span = text.trim() === '' ? '' : drawSpan(text, margin + column * cell.width, y, style);
    column += [...text].length;
    return span;
  });
  return spans.join('');
}

function drawSpan(text, x, y, { fill, bold, dim }) {
  const look = [fill && `fill="${fill}"`, bold && 'font-weight="600"', dim && 'opacity="0.6"']
    .filter(Boolean)
    .join(' ');
  const length = `textLength="${([...text].length * cell.width).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" ${length} ${look}>${escapeXml(text)}</text>`;
}

function applyCodes(style, codes) {
  let { fill, bold, dim } = style;
  for (const code of codes) {
    if (code === 0 || code === 39) fill = null;
    if (code === 0 || code === 22) [bold, dim] = [false, false];
    if (code === 1) bold = true;
    if (code === 2) dim = true;
    if (code >= 30 && code <= 37) fill = palette[code - 30];
    if (code >= 90 && code <= 97) fill = palette[code - 90];
  }
  return { fill, bold, dim };
}

function strip(line) {
  const parts = line.split(colourCodes).filter((part) => !part.startsWith(`${escapeCharacter}[`));
  return parts.join('').replace(alphabetCodes, '');
}

function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
