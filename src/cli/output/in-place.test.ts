import { describe, expect, it } from 'vitest';
import { cellsOf, cutToCells } from './cells.ts';
import { chooseOutput } from './choose.ts';
import { keepStreams } from './fake-streams.testsuite.ts';
import { createFrame } from './frame.ts';
import { layoutTable } from './table.ts';

const moves = /␛\[(\d+)A|␛\[(2K|J)|(\n)|([^␛\n\r]+)/g;

/** What stands on a screen of these rows after what was written to it; as much of ANSI as frames use. */
function screenOf(written: string, rows: number): readonly string[] {
  let lines = [''];
  let row = 0;
  for (const [, up, erase, end, text] of written.replaceAll('\x1b', '␛').matchAll(moves)) {
    // What has left the screen at its top is out of reach.
    if (up !== undefined) row = Math.max(lines.length - rows, 0, row - Number(up));
    else if (erase === 'J') lines = lines.slice(0, row + 1).with(row, '');
    else if (erase === '2K') lines[row] = '';
    else if (end !== undefined) {
      row += 1;
      lines[row] ??= '';
    } else if (text !== undefined) lines[row] = text;
  }
  return lines;
}

describe('what is drawn in place', () => {
  it('stays on the screen, however many lines there are, and is left once', () => {
    const { streams, stderr } = keepStreams({ terminal: true, rows: 6 });
    const frame = createFrame(streams);
    for (const round of [1, 2, 3]) {
      frame.draw(Array.from({ length: 20 }, (_, line) => [{ text: `${line} in round ${round}` }]));
    }
    const lines = ['0 in round 3', '1 in round 3', '2 in round 3', '  … 16 more lines', '19 in round 3', ''];
    expect(screenOf(stderr(), 6)).toEqual(lines);
  });

  it('is drawn anew when the terminal has another size', () => {
    let rows = 9;
    const { streams, stderr } = keepStreams({ terminal: true });
    const frame = createFrame({ ...streams, stderr: { ...streams.stderr, rows: () => rows } });
    const lines = Array.from({ length: 7 }, (_, line) => [{ text: `line ${line}` }]);
    frame.draw(lines);
    rows = 5;
    frame.draw(lines);
    expect(screenOf(stderr(), 5).slice(-5)).toEqual(['line 0', 'line 1', '  … 4 more lines', 'line 6', '']);
  });

  it('counts two cells for a wide character, and none for what stands on another', () => {
    expect(['abc', '準備', 'e\u0301', '🎉', 'é━…–'].map(cellsOf)).toEqual([3, 4, 1, 2, 4]);
    expect(cutToCells('準備完了', 8)).toBe('準備完了');
    expect(cutToCells('準備完了', 7)).toBe('準備完…');
    expect(cutToCells('準備完了', 6)).toBe('準備…');
    const { streams, stderr } = keepStreams({ terminal: true, columns: 40 });
    createFrame(streams).draw([[{ text: 'x  ' }, { text: '準備'.repeat(20), tone: 'waiting' }]]);
    for (const line of screenOf(stderr(), 24)) expect(cellsOf(line)).toBeLessThan(40);
    const table = layoutTable(
      ['ID', 'WHY', 'M'],
      [
        ['a', '準備', 'x'],
        ['b', 'no', 'y'],
      ],
      40,
    ).split('\n');
    expect(table.map((line) => cellsOf(line.slice(0, line.lastIndexOf(line.at(-1) ?? ''))))).toEqual([10, 10, 10]);
  });

  it('is an answer after the other where stdout is no terminal, and a document a line with --json', () => {
    const answerTwice = (options: { terminal: boolean; stdoutTerminal: boolean }, json: boolean): string => {
      const { streams, stdout } = keepStreams(options);
      const { answerAgain, inPlace } = chooseOutput(streams, { json, quiet: false });
      for (const count of [1, 2]) answerAgain([{ count }], (width) => `${count} of width ${width}`);
      return `${inPlace} ${stdout()}`;
    };
    const piped = 'false 1 of width null\n2 of width null\n';
    expect(answerTwice({ terminal: true, stdoutTerminal: false }, false)).toBe(piped);
    expect(answerTwice({ terminal: false, stdoutTerminal: false }, false)).toBe(piped);
    expect(answerTwice({ terminal: false, stdoutTerminal: false }, true)).toBe('false [{"count":1}]\n[{"count":2}]\n');
    expect(answerTwice({ terminal: true, stdoutTerminal: true }, false)).toBe('true ');
  });
});
