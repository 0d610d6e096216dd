import * as z from 'zod';
import * as views from './other-views.ts';
import type { Route } from './route.ts';
import { events, json, none, queryFlag, queryNumber } from './route-parts.ts';
import { endpointView, revisionView, serviceView } from './service-views.ts';
import { applyBody, mostSubmissionBytes } from './submissions.ts';

const text = z.string();
const applied = z.object({ name: text, revision: z.int(), changed: z.boolean() });

export const serviceRoutes = {
  listServices: {
    method: 'GET',
    path: '/v1/services',
    summary: 'services by name',
    access: 'user',
    answer: json(z.object({ items: z.array(serviceView) })),
  },
  applyService: {
    method: 'POST',
    path: '/v1/services',
    summary: 'make a service so; nothing changed answers changed: false',
    access: 'user',
    body: applyBody,
    mostBodyBytes: mostSubmissionBytes,
    answer: json(applied),
  },
  getService: {
    method: 'GET',
    path: '/v1/services/{name}',
    summary: 'one service in full',
    access: 'user',
    answer: json(serviceView),
  },
  watchService: {
    method: 'GET',
    path: '/v1/services/{name}/watch',
    summary: 'the service now and after each change',
    access: 'user',
    answer: events(serviceView),
  },
  scaleService: {
    method: 'POST',
    path: '/v1/services/{name}/scale',
    summary: 'another number of replicas; remove names those that go first',
    access: 'user',
    body: z.strictObject({ replicas: z.int(), remove: z.exactOptional(z.array(text).max(64)) }),
    answer: none,
  },
  restartService: {
    method: 'POST',
    path: '/v1/services/{name}/restart',
    summary: 'replace every replica, one after the other',
    access: 'user',
    answer: json(applied),
  },
  stopService: {
    method: 'POST',
    path: '/v1/services/{name}/stop',
    summary: 'end every replica and keep the service',
    access: 'user',
    answer: none,
  },
  removeService: {
    method: 'DELETE',
    path: '/v1/services/{name}',
    summary: 'end every replica and forget the service',
    access: 'user',
    answer: none,
  },
  changeRollout: {
    method: 'POST',
    path: '/v1/services/{name}/rollout',
    summary: 'pause or resume its rollout, or go back to an earlier revision',
    access: 'user',
    body: z.strictObject({ action: z.enum(['pause', 'resume', 'undo']), to: z.exactOptional(z.int().min(1)) }),
    answer: none,
  },
  serviceRevisions: {
    method: 'GET',
    path: '/v1/services/{name}/revisions',
    summary: 'what its replicas ran or run on',
    access: 'user',
    answer: json(z.object({ items: z.array(revisionView) })),
  },
  serviceEndpoints: {
    method: 'GET',
    path: '/v1/services/{name}/endpoints',
    summary: 'where its ready replicas answer',
    access: 'user',
    answer: json(z.object({ items: z.array(endpointView) })),
  },
  serviceEvents: {
    method: 'GET',
    path: '/v1/services/{name}/events',
    summary: 'what happened to it and its replicas',
    access: 'user',
    query: z.strictObject({ follow: z.exactOptional(queryFlag) }),
    answer: events(views.eventView),
  },
  serviceLogs: {
    method: 'GET',
    path: '/v1/services/{name}/logs',
    summary: 'what all replicas print',
    access: 'user',
    query: z.strictObject({
      follow: z.exactOptional(queryFlag),
      step: z.exactOptional(z.enum(['setup', 'run'])),
      tail: z.exactOptional(queryNumber),
      sinceMs: z.exactOptional(queryNumber),
    }),
    answer: events(views.logPiece),
  },
  explainService: {
    method: 'GET',
    path: '/v1/services/{name}/explain',
    summary: 'why it waits or its rollout is stuck',
    access: 'user',
    answer: json(views.explanation),
  },
} as const satisfies Record<string, Route>;
