import { resolveJob } from '../../client/find-job.ts';
import { createJobHandle } from '../../client/job-handle.ts';
import { submit } from '../../client/submit.ts';
import type { jobRoutes } from '../../wire/http/routes-jobs.ts';
import type { HandlersOf } from '../handler.ts';

export const jobHandlers = {
  async submitJob({ body, embedded }) {
    const { submission } = body;
    return { id: await submit(embedded, submission as never, {}) };
  },
  async getJob({ params, embedded }) {
    return createJobHandle(embedded, await resolveJob(embedded, params.id)).view();
  },
} satisfies Partial<HandlersOf<typeof jobRoutes>>;
