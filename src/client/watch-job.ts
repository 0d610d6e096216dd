import { type JobView, viewJob } from '../core/job/view.ts';
import type { Embedded } from './embedded.ts';
import { requireJob } from './job-handle.ts';
import { createSignalBox } from './signal-box.ts';

/** The job once it has ended, or as it is when the signal aborts. */
export async function waitForEnd(embedded: Embedded, id: string, signal?: AbortSignal): Promise<JobView> {
  const { plane } = embedded;
  const box = createSignalBox(signal);
  const end = plane.subscribe((batch) => {
    if (batch.facts.some((fact) => fact.kind === 'JobEnded' && fact.job === id)) box.ring();
  }, box.close);
  try {
    await plane.catchUp();
    for (;;) {
      const job = await requireJob(embedded, id);
      if (job.outcome !== null || box.isEnded()) return viewJob(plane.state, job, plane.nowMs());
      await box.wait();
    }
  } finally {
    end();
  }
}

/** The job now, and again after each batch that concerns it, the last time when it has ended. */
export async function* watchJob(embedded: Embedded, id: string, signal?: AbortSignal): AsyncGenerator<JobView> {
  const { plane } = embedded;
  const box = createSignalBox(signal);
  const end = plane.subscribe((batch) => {
    if (batch.facts.some((fact) => !('job' in fact) || fact.job === id)) box.ring();
  }, box.close);
  try {
    await plane.catchUp();
    let shown = '';
    while (!box.isEnded()) {
      const job = await requireJob(embedded, id);
      const view = viewJob(plane.state, job, plane.nowMs(), {
        full: job.outcome !== null || job.settings.array === null,
      });
      const text = JSON.stringify(view);
      if (text !== shown) yield view;
      shown = text;
      if (job.outcome !== null) return;
      await box.wait();
    }
  } finally {
    end();
  }
}
