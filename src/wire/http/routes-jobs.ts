import * as z from 'zod';
import { type JobState, jobMoves } from '../../core/job/lifecycle.ts';
import { jobView, outputView } from './job-views.ts';
import * as views from './other-views.ts';
import type { Route } from './route.ts';
import { events, json, none, page, paging, queryFlag, queryNumber, socket } from './route-parts.ts';
import { mostSubmissionBytes, previewBody, submissionBody } from './submissions.ts';

const text = z.string();
const part = { part: z.exactOptional(queryNumber) };
const whichJob = z.strictObject(part);

/** A handle on a job, or on one part of it (`ID/N`). */
const jobReference = z.object({ id: text, part: z.int().nullable() });

const logQuery = z.strictObject({
  ...part,
  follow: z.exactOptional(queryFlag),
  step: z.exactOptional(z.enum(['setup', 'run'])),
  attempt: z.exactOptional(queryNumber),
  tail: z.exactOptional(queryNumber),
  sinceMs: z.exactOptional(queryNumber),
});

const jobStates = Object.keys(jobMoves) as [JobState, ...JobState[]];

/** Jobs. `{id}` is an id, a unique prefix or a name; `?part=N` one rank or index of it. */
export const jobRoutes = {
  listJobs: {
    method: 'GET',
    path: '/v1/jobs',
    summary: 'jobs, newest first',
    access: 'user',
    query: z.strictObject({
      all: z.exactOptional(queryFlag),
      state: z.exactOptional(z.enum(jobStates)),
      owner: z.exactOptional(text),
      project: z.exactOptional(text),
      ...paging,
    }),
    answer: json(page(jobView)),
  },
  submitJob: {
    method: 'POST',
    path: '/v1/jobs',
    summary: 'submit a job',
    access: 'user',
    body: submissionBody,
    mostBodyBytes: mostSubmissionBytes,
    answer: json(z.object({ id: text })),
  },
  previewJob: {
    method: 'POST',
    path: '/v1/jobs/preview',
    summary: 'what a submission would become, and where it would fit',
    access: 'user',
    body: previewBody,
    mostBodyBytes: mostSubmissionBytes,
    answer: json(views.preview),
  },
  resolveJob: {
    method: 'GET',
    path: '/v1/jobs/resolve',
    summary: 'the job that an id, a prefix, a name or ID/N means',
    access: 'user',
    query: z.strictObject({ reference: text.max(200) }),
    answer: json(jobReference),
  },
  getJob: { method: 'GET', path: '/v1/jobs/{id}', summary: 'one job in full', access: 'user', answer: json(jobView) },
  watchJob: {
    method: 'GET',
    path: '/v1/jobs/{id}/watch',
    summary: 'the job now and after each change, until it has ended',
    access: 'user',
    answer: events(jobView),
  },
  stopJob: {
    method: 'POST',
    path: '/v1/jobs/{id}/stop',
    summary: 'stop it, or one part of it',
    access: 'user',
    query: whichJob,
    body: z.strictObject({ graceMs: z.exactOptional(z.int().min(0)) }),
    answer: none,
  },
  failUnschedulable: {
    method: 'POST',
    path: '/v1/jobs/{id}/unschedulable',
    summary: 'end a job that no node can ever run',
    access: 'user',
    body: z.strictObject({ message: text.max(1000) }),
    answer: none,
  },
  retryJob: {
    method: 'POST',
    path: '/v1/jobs/{id}/retry',
    summary: 'run an ended job again, or give one that waits for its lost node the next attempt',
    access: 'user',
    query: whichJob,
    body: z.strictObject({ failed: z.exactOptional(z.boolean()) }),
    answer: json(jobReference),
  },
  jobLogs: {
    method: 'GET',
    path: '/v1/jobs/{id}/logs',
    summary: 'what it printed; with follow as it prints',
    access: 'user',
    query: logQuery,
    answer: events(views.logPiece),
  },
  jobOutputs: {
    method: 'GET',
    path: '/v1/jobs/{id}/outputs',
    summary: 'declared outputs and what became of them; of a live job what there is so far',
    access: 'user',
    query: whichJob,
    answer: json(z.object({ items: z.array(outputView) })),
  },
  jobOutputTrees: {
    method: 'GET',
    path: '/v1/jobs/{id}/outputs/trees',
    summary: 'the same by task, each with the blob that lists its files',
    access: 'user',
    query: whichJob,
    answer: json(z.object({ items: z.array(views.taskOutputs) })),
  },
  jobEvents: {
    method: 'GET',
    path: '/v1/jobs/{id}/events',
    summary: 'what happened to it',
    access: 'user',
    query: z.strictObject({ follow: z.exactOptional(queryFlag) }),
    answer: events(views.eventView),
  },
  explainJob: {
    method: 'GET',
    path: '/v1/jobs/{id}/explain',
    summary: 'why it waits, and where each of its settings comes from',
    access: 'user',
    query: whichJob,
    answer: json(views.jobExplanation),
  },
  execJob: {
    method: 'GET',
    path: '/v1/jobs/{id}/exec',
    summary: 'a command beside it, with a terminal; a WebSocket',
    access: 'user',
    query: whichJob,
    answer: socket,
  },
} as const satisfies Record<string, Route>;
