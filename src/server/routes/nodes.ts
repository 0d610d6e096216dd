import type { CreatedToken, Tokens } from '../../client/api.ts';
import { execute } from '../../client/embedded.ts';
import { createNodes } from '../../client/nodes.ts';
import { createProjects } from '../../client/projects.ts';
import { createSecrets } from '../../client/secrets/secrets.ts';
import { createTokens } from '../../client/tokens.ts';
import { readUsage } from '../../client/usage.ts';
import type { nodeRoutes } from '../../wire/http/routes-nodes.ts';
import type { Asked, HandlersOf } from '../handler.ts';
import { joinTokenOf } from '../who-asks.ts';

export const nodeHandlers = {
  async listNodes({ embedded }) {
    return { items: await createNodes(embedded).list() };
  },
  getNode: ({ params, embedded }) => createNodes(embedded).get(params.name),
  async drainNode({ params, body, embedded }) {
    await createNodes(embedded).drain(params.name, body);
  },
  async resumeNode({ params, embedded }) {
    await createNodes(embedded).resume(params.name);
  },
  async removeNode({ params, embedded }) {
    await createNodes(embedded).remove(params.name);
  },
  async joinNode({ body, embedded, headers }) {
    const { node, keyHash } = body;
    const token = joinTokenOf({ headers });
    // Whoever holds the token speaks for the node that it lets in.
    const joining = { ...embedded, actor: { kind: 'node', name: node } } as const;
    await execute(joining, { kind: 'UseJoinToken', token, node, keyHash });
    return { node };
  },
  async listProjects({ embedded }) {
    return { items: await createProjects(embedded).list() };
  },
  async createProject({ body, embedded }) {
    const { name, ...options } = body;
    await createProjects(embedded).create(name, options);
  },
  async changeProject({ params, body, embedded }) {
    await createProjects(embedded).change(params.name, body);
  },
  async removeProject({ params, embedded }) {
    await createProjects(embedded).remove(params.name);
  },
  async grantRole({ params, body, embedded }) {
    await createProjects(embedded).grant(params.name, params.user, body.role);
  },
  async revokeRole({ params, embedded }) {
    await createProjects(embedded).revoke(params.name, params.user);
  },
  usage: ({ query, embedded }) => readUsage(embedded, query),
  async listTokens({ embedded }) {
    return { items: await createTokens(embedded).list() };
  },
  async createToken({ body, embedded, server }) {
    const { idempotencyKey, ...own } = embedded;
    const { token, ...made } = await server.recent.once(idempotencyKey, body, () => makeToken(createTokens(own), body));
    return { ...made, token: server.pin === null ? token : `${token}@${server.pin}` };
  },
  async revokeToken({ params, embedded }) {
    await createTokens(embedded).revoke(params.id);
  },
  async secretKeys({ embedded }) {
    return { items: await createSecrets(embedded).keys() };
  },
  async listSecrets({ query, embedded }) {
    return { items: await createSecrets(embedded).list(query) };
  },
  async setSecret({ params, body, embedded }) {
    const { boxes, ...options } = body;
    await createSecrets(embedded).setSealed(params.name, boxes, options);
  },
  async removeSecret({ params, query, embedded }) {
    await createSecrets(embedded).remove(params.name, query);
  },
} satisfies HandlersOf<typeof nodeRoutes>;

type TokenBody = Asked<typeof nodeRoutes.createToken>['body'];

function makeToken(tokens: Tokens, { kind, user, admin, project, node, expiresMs }: TokenBody): Promise<CreatedToken> {
  const expires = expiresMs === undefined ? {} : { expiresMs };
  if (kind === 'join') return tokens.createJoin({ ...expires, ...(node === undefined ? {} : { node }) });
  return tokens.create({
    ...expires,
    ...(user === undefined ? {} : { user }),
    ...(admin === undefined ? {} : { admin }),
    ...(project === undefined ? {} : { project }),
  });
}
