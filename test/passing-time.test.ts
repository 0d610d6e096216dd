import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Scenario } from '../src/core/scenario.testsuite.ts';
import { type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';

const retryTwice = { retry: { maxAttempts: 2, onExit: [75] } };

describe('passing time', () => {
  it('becomes facts by rule once something is due, and nothing before, after or twice [U6]', () => {
    const at = new Scenario();
    at.join('laptop');
    const id = at.submit(retryTwice);
    at.report(at.key(id), { kind: 'JobExited', exitCode: 75, signal: null, detail: null });

    expect(at.pass(999).facts).toEqual([]);
    expect(at.pass(1).facts.map(({ kind }) => kind)).toEqual(['AttemptPlaced', 'NodeReady']);
    expect(at.pass(0).facts).toEqual([]);
    expect(at.pass(60_000).facts).toEqual([]);
  });

  describe('where no server is', () => {
    let lab: EmbeddedLab;
    beforeEach(() => {
      lab = openEmbeddedLab();
    });
    afterEach(() => lab.close());

    it('is looked after by the process that holds a node, though nobody calls it [G10]', async () => {
      const holder = await lab.open();
      const node = await holder.nodes.start({ name: 'clock', cpus: 1 });
      const elsewhere = await lab.open();
      const job = await elsewhere.jobs.submit({ job: { name: 'again', run: 'exit 75' }, profile: retryTwice });
      const { attempt, outcome } = await job.wait();
      await node?.close();
      expect({ attempt, exitCode: outcome?.exitCode }).toEqual({ attempt: 2, exitCode: 75 });
    });
  });
});
