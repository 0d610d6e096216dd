import { createProfiles } from '../../client/profiles.ts';
import { prune } from '../../client/prune.ts';
import { createTokens } from '../../client/tokens.ts';
import { version } from '../../client/version.ts';
import { whoAmI } from '../../client/whoami.ts';
import { openApiDocument } from '../../wire/http/openapi.ts';
import { routes } from '../../wire/http/routes.ts';
import type { systemRoutes } from '../../wire/http/routes-system.ts';
import { packOf, receivePack } from '../blob-packs.ts';
import { readBlob, receiveBlob } from '../blob-streams.ts';
import { streamEvents } from '../event-places.ts';
import type { HandlersOf } from '../handler.ts';
import { refused } from '../http-refusal.ts';
import { readRangeStart } from '../range.ts';

const signedInMs = 30 * 86_400_000;

export const systemHandlers = {
  async health({ embedded, server }) {
    const { oidc } = server.settings;
    return {
      status: 'ok',
      version,
      incarnation: embedded.plane.log.incarnation,
      oidc: oidc === null ? null : { issuer: oidc.issuer, clientId: oidc.clientId },
    };
  },
  async openapi() {
    return openApiDocument(routes, version);
  },
  metrics: ({ server }) => server.metrics.read(),
  whoami: ({ embedded }) => whoAmI(embedded),
  /** A token that lasts for a while, so that whoever leaves the issuer is out soon after. */
  async signIn({ actor, embedded, server }) {
    const { idempotencyKey, ...own } = embedded;
    const tokens = createTokens({ ...own, actor: server.embedded.actor });
    const { token, expiresAt } = await server.recent.once(idempotencyKey, actor.name, () =>
      tokens.create({ user: actor.name, expiresMs: signedInMs }),
    );
    return { name: actor.name, token, expiresAt };
  },
  async events({ query, embedded, signal, lastEventId }) {
    return streamEvents(embedded, { ...query, signal }, lastEventId);
  },
  prune: ({ body, embedded }) => prune(embedded, body),
  async listProfiles({ embedded }) {
    return { items: await createProfiles(embedded).list() };
  },
  applyProfile: ({ body, embedded }) => createProfiles(embedded).apply(body.document),
  async missingBlobs({ body, server }) {
    return { missing: await server.store.missing(body.hashes) };
  },
  async putBlob({ params, body, server }) {
    await receiveBlob(server.store, checkHash(params.hash), body);
  },
  async putBlobs({ body, server }) {
    await receivePack(server.store, body);
  },
  async getBlob({ params, headers, server }) {
    const hash = checkHash(params.hash);
    const place = await server.store.locate(hash);
    if (place === null) throw refused('NOT_FOUND', 'there is no blob of this name');
    const fromBytes = readRangeStart(headers.range, place.sizeBytes);
    return {
      sizeBytes: place.sizeBytes,
      ...(fromBytes === null ? {} : { fromBytes }),
      bytes: readBlob(hash, place, fromBytes ?? 0),
    };
  },
  async getBlobs({ body, server, embedded }) {
    const pack = await packOf(server.store, body.hashes, embedded.host.digests);
    return { sizeBytes: pack.length, bytes: once(pack) };
  },
} satisfies HandlersOf<typeof systemRoutes>;

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function checkHash(text: string): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text;
  throw refused('BAD_VALUE', 'the name of a blob is the lower-case hex SHA-256 of its bytes', { path: 'hash' });
}
