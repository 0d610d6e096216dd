import { describe, expect, it } from 'vitest';
import { oneNode, run } from '../plan.testsuite.ts';
import { drawReport } from './draw-report.ts';
import { niceCeiling, timeTicks } from './scale.ts';
import { escapeXml } from './svg.ts';

const hourMs = 3_600_000;

describe('the picture of a simulation', () => {
  it('is whole, has a band for each name, and escapes what came from files [R4.38]', async () => {
    const { report } = await run(`${oneNode}[[jobs]]\nname = "a"\nruns = "1h"\n[[jobs]]\nname = "b"\nruns = "2h"\n`);
    const svg = drawReport({ ...report, title: '<script>&"\u0007' });
    expect(svg).toContain('<title>&#60;script&#62;&#38;&#34; </title>');
    expect(svg).not.toMatch(/<script|\p{Cc}(?<!\n)/u);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    for (const name of ['>a</text>', '>b</text>', 'cores in use', 'waiting', '>n</text>']) expect(svg).toContain(name);
    expect(svg.match(/<path /g)).toHaveLength(4);
    expect(svg.match(/<(\w+)[^>]*[^/]>/g)?.length).toBe(svg.match(/<\/\w+>/g)?.length);
    expect(svg).toContain('prefers-color-scheme: dark');
  });

  it('draws nothing at all without falling over it', async () => {
    const { report } = await run(`${oneNode}[[jobs]]\nname = "a"\nruns = "0s"\n`);
    expect(drawReport(report)).not.toMatch(/NaN|undefined|Infinity/);
  });

  it('puts many names beyond its colours into one band', async () => {
    const jobs = Array.from({ length: 12 }, (_, number) => `[[jobs]]\nname = "job-${number}"\nruns = "1h"\n`).join('');
    const { report } = await run(oneNode + jobs);
    expect(drawReport(report)).toContain('>6 others</text>');
  });
});

describe('the axis of time', () => {
  it('has whole steps of the calendar where there is a date', () => {
    const ticks = timeTicks(30 * hourMs, Date.UTC(2026, 11, 1, 20));
    expect(ticks.map(({ label }) => label)).toEqual(['2 Dec', '06:00', '12:00', '18:00', '3 Dec']);
    expect(ticks[0]?.atMs).toBe(4 * hourMs);
  });

  it('says what has passed where there is none', () => {
    expect(timeTicks(30 * hourMs, null).map(({ label }) => label)).toEqual([
      'start',
      '6 h',
      '12 h',
      '18 h',
      '1 d',
      '1 d 6 h',
    ]);
    expect(timeTicks(7 * 24 * hourMs, null).map(({ label }) => label)).toContain('3 d');
    expect(timeTicks(0, null)).toHaveLength(1);
    for (let hours = 1; hours < 1e5; hours *= 3) expect(timeTicks(hours * hourMs, null).length).toBeLessThanOrEqual(9);
  });
});

it('escapes what XML would read, and drops what it cannot hold', () => {
  expect(escapeXml('a<b>&\'"\u0000\ufffe')).toBe('a&#60;b&#62;&#38;&#39;&#34;  ');
  expect([0.4, 1, 3, 11, 240, 26].map(niceCeiling)).toEqual([1, 1, 5, 20, 250, 50]);
});
