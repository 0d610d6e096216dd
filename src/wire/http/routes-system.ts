import * as z from 'zod';
import { roles } from '../../core/access/principal.ts';
import * as views from './other-views.ts';
import type { Route } from './route.ts';
import { bytesAnswer, events, json, none, queryFlag, textAnswer } from './route-parts.ts';

const text = z.string();

/** The server itself, what happened, profiles, and bytes. */
export const systemRoutes = {
  health: {
    method: 'GET',
    path: '/v1/health',
    summary: 'whether the server answers, and how to sign in',
    access: 'public',
    answer: json(views.health),
  },
  openapi: {
    method: 'GET',
    path: '/v1/openapi.json',
    summary: 'this API as an OpenAPI 3.1 document',
    access: 'user',
    answer: json(z.looseObject({ openapi: text })),
  },
  metrics: {
    method: 'GET',
    path: '/metrics',
    summary: 'figures for Prometheus',
    access: 'user',
    answer: textAnswer,
  },
  whoami: {
    method: 'GET',
    path: '/v1/whoami',
    summary: 'whose token this is, and what it may do',
    access: 'user',
    answer: json(z.object({ name: text, admin: z.boolean(), projects: z.record(text, z.enum(roles)) })),
  },
  signIn: {
    method: 'POST',
    path: '/v1/sign-in',
    summary: 'a token for whoever the OIDC issuer says it is',
    access: 'identity',
    answer: json(z.object({ name: text, token: text, expiresAt: text.nullable() })),
  },
  events: {
    method: 'GET',
    path: '/v1/events',
    summary: 'what happened, oldest first; with follow as it happens',
    access: 'user',
    query: z.strictObject({
      job: z.exactOptional(text),
      service: z.exactOptional(text),
      audit: z.exactOptional(queryFlag),
      follow: z.exactOptional(queryFlag),
    }),
    answer: events(views.eventView),
  },
  prune: {
    method: 'POST',
    path: '/v1/prune',
    summary: 'forget old jobs, and the bytes that nothing names',
    access: 'user',
    body: z.strictObject({ olderThanMs: z.int().min(0) }),
    answer: json(views.pruneReport),
  },
  listProfiles: {
    method: 'GET',
    path: '/v1/profiles',
    summary: 'named profiles, each in its newest revision',
    access: 'user',
    answer: json(z.object({ items: z.array(views.profileView) })),
  },
  applyProfile: {
    method: 'PUT',
    path: '/v1/profiles',
    summary: 'make a named profile so',
    access: 'user',
    body: z.strictObject({ document: z.unknown() }),
    answer: json(z.object({ revision: z.int(), changed: z.boolean() })),
  },
  missingBlobs: {
    method: 'POST',
    path: '/v1/blobs/missing',
    summary: 'which of these contents the server lacks',
    access: 'user-or-node',
    body: z.strictObject({ hashes: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(10_000) }),
    answer: json(z.object({ missing: z.array(text) })),
  },
  putBlob: {
    method: 'PUT',
    path: '/v1/blobs/{hash}',
    summary: 'store one content; verified against its hash',
    access: 'user-or-node',
    body: { bytes: true, mostBytes: Number.MAX_SAFE_INTEGER },
    answer: none,
  },
  putBlobs: {
    method: 'POST',
    path: '/v1/blobs/pack',
    summary: 'store many small contents at once; in the format of a pack',
    access: 'user-or-node',
    body: { bytes: true, mostBytes: 16 * 1024 * 1024 },
    answer: none,
  },
  getBlob: {
    method: 'GET',
    path: '/v1/blobs/{hash}',
    summary: 'one content',
    access: 'user-or-node',
    answer: bytesAnswer,
  },
  getBlobs: {
    method: 'POST',
    path: '/v1/blobs/fetch',
    summary: 'many small contents at once, as a pack',
    access: 'user-or-node',
    body: z.strictObject({ hashes: z.array(z.string().regex(/^[0-9a-f]{64}$/)).max(10_000) }),
    answer: bytesAnswer,
  },
} as const satisfies Record<string, Route>;
