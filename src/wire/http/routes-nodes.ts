import * as z from 'zod';
import type { ProjectView, TokenView } from '../../core/access/view.ts';
import type { SecretView } from '../../core/secrets/view.ts';
import { dateForm, type UsageView, usageGroups } from '../../core/usage/view.ts';
import { nodeView } from './other-views.ts';
import type { Route } from './route.ts';
import { json, none } from './route-parts.ts';

const text = z.string();
const role = z.enum(['viewer', 'member', 'operator', 'admin']);
const quota = z.strictObject({
  replicas: z.int().min(0).nullable(),
  gpus: z.int().min(0).nullable(),
  cores: z.number().min(0).nullable(),
  queued: z.int().min(0).nullable(),
});

const someQuota = z.strictObject({
  replicas: z.exactOptional(quota.shape.replicas),
  gpus: z.exactOptional(quota.shape.gpus),
  cores: z.exactOptional(quota.shape.cores),
  queued: z.exactOptional(quota.shape.queued),
});

const projectView = z.object({
  name: text,
  quota,
  used: z.object({ replicas: z.number(), gpus: z.number(), cores: z.number(), queued: z.number() }),
  /** The role of every user who is not among the members. */
  everyone: role.nullable(),
  members: z.record(text, role),
}) satisfies z.ZodType<ProjectView>;

const tokenView = z.object({
  id: text,
  kind: z.enum(['user', 'join']),
  user: text.nullable(),
  admin: z.boolean(),
  project: text.nullable(),
  node: text.nullable(),
  createdBy: text,
  createdAt: text,
  expiresAt: text.nullable(),
}) satisfies z.ZodType<TokenView>;

const secretView = z.object({
  name: text,
  project: text.nullable(),
  setBy: text.nullable(),
  setAt: text.nullable(),
  nodes: z.array(text),
  closedTo: z.array(text),
}) satisfies z.ZodType<SecretView>;

const usageGroup = z.enum(usageGroups);
const used = { gpuMs: z.number().min(0), coreMs: z.number().min(0) };

const usageView = z.object({
  from: z.iso.date(),
  to: z.iso.date(),
  by: usageGroup,
  project: text.nullable(),
  rows: z.array(z.object({ name: text, ...used })),
  total: z.object(used),
}) satisfies z.ZodType<UsageView>;

/** Nodes, and who may do what. */
export const nodeRoutes = {
  listNodes: {
    method: 'GET',
    path: '/v1/nodes',
    summary: 'nodes by name',
    access: 'user',
    answer: json(z.object({ items: z.array(nodeView) })),
  },
  getNode: { method: 'GET', path: '/v1/nodes/{name}', summary: 'one node', access: 'user', answer: json(nodeView) },
  drainNode: {
    method: 'POST',
    path: '/v1/nodes/{name}/drain',
    summary: 'no new work for it; what is left at the deadline is moved',
    access: 'user',
    body: z.strictObject({ reason: z.exactOptional(text.max(500)), deadlineMs: z.exactOptional(z.int().min(0)) }),
    answer: none,
  },
  resumeNode: {
    method: 'POST',
    path: '/v1/nodes/{name}/resume',
    summary: 'new work again',
    access: 'user',
    answer: none,
  },
  removeNode: {
    method: 'DELETE',
    path: '/v1/nodes/{name}',
    summary: 'forget a node that is gone',
    access: 'user',
    answer: none,
  },
  joinNode: {
    method: 'POST',
    path: '/v1/nodes/join',
    summary: "use up a join token: from now on the node's own key speaks for it",
    access: 'join',
    body: z.strictObject({ node: text, keyHash: z.string().regex(/^[0-9a-f]{64}$/) }),
    answer: json(z.object({ node: text })),
  },
  listProjects: {
    method: 'GET',
    path: '/v1/projects',
    summary: 'projects, their quotas and what is used of them',
    access: 'user',
    answer: json(z.object({ items: z.array(projectView) })),
  },
  createProject: {
    method: 'POST',
    path: '/v1/projects',
    summary: 'a new project',
    access: 'user',
    body: z.strictObject({ name: text, quota: z.exactOptional(someQuota) }),
    answer: none,
  },
  changeProject: {
    method: 'PUT',
    path: '/v1/projects/{name}',
    summary: 'other quotas, or another role for everyone; null lifts one',
    access: 'user',
    body: z.strictObject({ quota: z.exactOptional(someQuota), everyone: z.exactOptional(role.nullable()) }),
    answer: none,
  },
  removeProject: {
    method: 'DELETE',
    path: '/v1/projects/{name}',
    summary: 'remove a project with nothing in it',
    access: 'user',
    answer: none,
  },
  grantRole: {
    method: 'PUT',
    path: '/v1/projects/{name}/members/{user}',
    summary: 'a role in the project',
    access: 'user',
    body: z.strictObject({ role }),
    answer: none,
  },
  revokeRole: {
    method: 'DELETE',
    path: '/v1/projects/{name}/members/{user}',
    summary: 'no role in the project any more',
    access: 'user',
    answer: none,
  },
  usage: {
    method: 'GET',
    path: '/v1/usage',
    summary: 'GPU and core time by project, user or day, in milliseconds; days are whole and in UTC',
    access: 'user',
    query: z.strictObject({
      from: z.exactOptional(z.iso.date(dateForm)),
      to: z.exactOptional(z.iso.date(dateForm)),
      by: z.exactOptional(usageGroup),
      project: z.exactOptional(text.max(60)),
    }),
    answer: json(usageView),
  },
  listTokens: {
    method: 'GET',
    path: '/v1/tokens',
    summary: 'tokens, never their secrets',
    access: 'user',
    answer: json(z.object({ items: z.array(tokenView) })),
  },
  createToken: {
    method: 'POST',
    path: '/v1/tokens',
    summary: 'a token for a user or for a node to join with; shown once',
    access: 'user',
    body: z.strictObject({
      kind: z.enum(['user', 'join']),
      user: z.exactOptional(text),
      admin: z.exactOptional(z.boolean()),
      project: z.exactOptional(text),
      node: z.exactOptional(text),
      expiresMs: z.exactOptional(z.int().min(1)),
    }),
    answer: json(z.object({ id: text, token: text, expiresAt: text.nullable() })),
  },
  revokeToken: {
    method: 'DELETE',
    path: '/v1/tokens/{id}',
    summary: 'the token is worth nothing from now on',
    access: 'user',
    answer: none,
  },
  secretKeys: {
    method: 'GET',
    path: '/v1/secrets/keys',
    summary: 'the public keys that a secret is sealed to',
    access: 'user',
    answer: json(z.object({ items: z.array(z.object({ keyId: text, publicKey: text, nodes: z.array(text) })) })),
  },
  listSecrets: {
    method: 'GET',
    path: '/v1/secrets',
    summary: 'names of secrets and who set them; never a value',
    access: 'user',
    query: z.strictObject({ project: z.exactOptional(text) }),
    answer: json(z.object({ items: z.array(secretView) })),
  },
  setSecret: {
    method: 'PUT',
    path: '/v1/secrets/{name}',
    summary: 'a value sealed to the keys of the nodes; the server cannot open it',
    access: 'user',
    body: z.strictObject({ project: z.exactOptional(text), boxes: z.record(text, z.base64()) }),
    answer: none,
  },
  removeSecret: {
    method: 'DELETE',
    path: '/v1/secrets/{name}',
    summary: 'forget a secret',
    access: 'user',
    query: z.strictObject({ project: z.exactOptional(text) }),
    answer: none,
  },
} as const satisfies Record<string, Route>;
