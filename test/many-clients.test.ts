import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isFull, type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

const clients = 8;
const jobsEach = isFull ? 125 : 15;

/** A client of the SDK: submits its jobs, a few at a time, waits for each, and prints how long the longest took. */
const program = `
import { Runyard } from '${import.meta.dirname}/../dist/index.js';
const yard = await Runyard.open({ home: process.argv[2] });
let longestMs = 0;
let completed = 0;
const one = async () => {
  const startMs = performance.now();
  const job = await yard.jobs.submit({ job: { name: 'many', run: ['true'] } });
  const { state } = await job.wait();
  if (state === 'COMPLETED') completed += 1;
  longestMs = Math.max(longestMs, performance.now() - startMs);
};
for (let done = 0; done < ${jobsEach}; done += 5) await Promise.all(Array.from({ length: Math.min(5, ${jobsEach} - done) }, one));
await yard.close();
console.log(JSON.stringify({ completed, longestMs }));
`;

describe('eight processes on one home', () => {
  it(`submit and wait for ${clients * jobsEach} jobs: all complete, nobody sees a lock error, none waits unfairly [G8]`, async () => {
    const agent = lab.start(['node', 'start', '--cpus', '32']);
    await agent.printed(/ready|node/);
    const { spawn } = await import('node:child_process');
    const runs = Array.from({ length: clients }, () => {
      const child = spawn(process.execPath, ['--input-type=module', '-', lab.home], {
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      child.stdin.end(program);
      let stdout = '';
      let stderr = '';
      child.stdout.on('data', (data) => {
        stdout += String(data);
      });
      child.stderr.on('data', (data) => {
        stderr += String(data);
      });
      return new Promise<{ code: number | null; stdout: string; stderr: string }>((done) =>
        child.once('close', (code) => done({ code, stdout, stderr })),
      );
    });
    const results = await Promise.all(runs);
    const reports = results.map(({ code, stdout, stderr }) => {
      expect([code, stderr]).toEqual([0, '']);
      return JSON.parse(stdout) as { completed: number; longestMs: number };
    });
    expect(reports.map(({ completed }) => completed)).toEqual(Array.from({ length: clients }, () => jobsEach));
    const longest = reports.map(({ longestMs }) => longestMs);
    expect(Math.max(...longest) / Math.min(...longest)).toBeLessThan(5);
    agent.child.kill('SIGTERM');
    await agent.finished;
  }, 300_000);

  it('that all say `yard run` at once: one brings the node, the others queue behind it and every job completes', async () => {
    const runs = Array.from({ length: 4 }, (_, index) =>
      lab.yard(['run', '--no-workspace', '--', 'sh', '-c', `sleep 0.2; echo ${index}`]),
    );
    const results = await Promise.all(runs);
    expect(results.map(({ code, stdout }) => [code, stdout])).toEqual([0, 1, 2, 3].map((index) => [0, `${index}\n`]));
  });
});
