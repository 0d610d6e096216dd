import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Job } from '../job/job.ts';
import { Scenario } from '../scenario.testsuite.ts';
import { comesBefore, ShapeQueue } from './shape-queue.ts';

it('keeps jobs in the order of placement, whichever come and go [B6] [G7]', () => {
  const at = new Scenario();
  const jobs = Array.from({ length: 12 }, (_, position) => at.job(at.submit({ priority: position % 3 })));
  fc.assert(
    fc.property(fc.array(fc.nat({ max: jobs.length - 1 }), { maxLength: 60 }), (toggled) => {
      const queue = new ShapeQueue();
      const inside = new Set<Job>();
      for (const position of toggled) {
        const job = jobs[position];
        if (job === undefined) continue;
        if (inside.has(job)) queue.remove(job);
        else queue.add(job);
        if (!inside.delete(job)) inside.add(job);
        expect([...queue]).toEqual([...inside].sort((a, b) => (comesBefore(a, b) ? -1 : 1)));
        expect(queue.size).toBe(inside.size);
      }
    }),
  );
});

it('keeps its order while thousands leave at the front', () => {
  const at = new Scenario();
  const first = at.job(at.submit());
  const jobs = Array.from({ length: 5000 }, (_, order) => ({ ...first, id: `j-${order}`, order }));
  const queue = new ShapeQueue();
  for (const job of jobs) queue.add(job);
  for (const [position, job] of jobs.entries()) {
    expect(queue.size).toBe(jobs.length - position);
    const [front] = queue;
    expect(front?.id).toBe(job.id);
    queue.remove(job);
    queue.remove(job);
  }
  expect([...queue]).toEqual([]);
});
