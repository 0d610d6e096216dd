import { describe, expect, it } from 'vitest';
import type { TaskFact } from '../core/job/facts.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { Host } from '../host/host.ts';
import type { AgentChannel } from './channel.ts';
import { Reporter } from './reporter.ts';
import { createVirtualTime } from './supervision/virtual-time.testsuite.ts';

const keyOf = (job: string): TaskKey => ({ job, index: 0, rank: 0, attempt: 1 });
const endOf = (job: string): TaskFact => {
  return { ...keyOf(job), kind: 'JobExited', exitCode: 0, signal: null, detail: null };
};
const refusal = (code: string): Error => Object.assign(new Error('refused'), { code });

/** A channel that answers each report as `answer` says; what it took, by the jobs of its events. */
function reporterOn(answer: (jobs: readonly string[]) => Error | null) {
  const time = createVirtualTime();
  const asked: string[][] = [];
  const taken: string[] = [];
  const report: AgentChannel['report'] = async ({ events, released }) => {
    const jobs = events.map(({ job }) => job);
    asked.push(jobs);
    const error = answer(jobs);
    if (error !== null) throw error;
    taken.push(...jobs, ...released.map(({ job }) => `${job} released`));
    return [];
  };
  const channel = { report } as AgentChannel;
  const host = { timers: time.timers } as Host;
  return { reporter: new Reporter(channel, host, () => {}), time, asked, taken };
}

describe('reports', () => {
  it('stay in order and first in line until they are delivered', async () => {
    let away = 3;
    const { reporter, time, taken } = reporterOn(() => (away-- > 0 ? new Error('away') : null));
    for (const job of ['a', 'b']) reporter.tell(endOf(job));
    await time.pass(50);
    reporter.tell(endOf('c'));
    await time.pass(5000);
    expect(taken).toEqual(['a', 'b', 'c']);
  });

  it.each(['NOT_ASSIGNED', 'FUTURE_ATTEMPT'])(
    'that are refused with %s keep back nothing else [R4.27] [R4.28]',
    async (code) => {
      const { reporter, time, taken, asked } = reporterOn((jobs) => (jobs.includes('b') ? refusal(code) : null));
      // The first goes alone, the others together after it.
      for (const job of ['x', 'a', 'b', 'c']) reporter.tell(endOf(job));
      reporter.release(keyOf('r'));
      await time.pass(5000);
      expect(taken).toEqual(['x', 'a', 'r released', 'c']);
      reporter.tell(endOf('d'));
      await time.pass(5000);
      expect(taken.at(-1)).toBe('d');
      expect(asked.filter((jobs) => jobs.includes('b')).length).toBe(2);
    },
  );
});
