import { drawNodeKey, hashSecret } from '../../../control/tokens.ts';
import { refuse } from '../../../core/refusal.ts';
import type { Host } from '../../../host/host.ts';
import { RefusalError } from '../../refusal-error.ts';
import type { Fingerprint } from '../fingerprint.ts';
import { createHttp } from '../http.ts';
import type { ServerAddress } from '../outgoing.ts';
import { readServerUrl, readToken } from '../server-url.ts';
import { type JoinedServer, readJoinedServer, readNodeKey, writeJoinedServer, writeNodeKey } from './node-record.ts';

/** What a person says about where the node belongs. */
export interface ServerChoice {
  /** Left out: the one that the node has joined before. */
  readonly url?: string;
  readonly fingerprint?: Fingerprint | null;
  /** As it was handed out, perhaps with the server's fingerprint behind an `@`; of use at the first start only. */
  readonly joinToken?: string;
}

type JoinHost = Pick<Host, 'files' | 'clock' | 'timers' | 'chance' | 'digests'>;

/**
 * The server that a node belongs to, with the key by which it is known there. At the first start the join token is used
 * up for that: the key is drawn here, and the server keeps no more than its digest.
 */
export async function joinServer(
  host: JoinHost,
  node: { readonly name: string; readonly directory: string },
  choice: ServerChoice,
): Promise<ServerAddress> {
  const known = await readJoinedServer(host.files, node.directory);
  const key = await readNodeKey(host.files, node.directory);
  if (known !== null && key !== null && isTheSame(known, choice)) return addressOf(known, node.name, key);
  const { url = known?.url, joinToken } = choice;
  if (url === undefined || joinToken === undefined) throw notJoined(node.name, url);
  return useToken(host, node, { url, token: joinToken, fingerprint: choice.fingerprint ?? null });
}

/** Lets the node in anew, though it has joined before: its key is worth nothing any more. */
export async function useToken(
  host: JoinHost,
  { name, directory }: { readonly name: string; readonly directory: string },
  given: { readonly url: string; readonly token: string; readonly fingerprint: Fingerprint | null },
): Promise<ServerAddress> {
  const { token, fingerprint } = readToken(given.token);
  const server = { url: readServerUrl(given.url), fingerprint: fingerprint ?? given.fingerprint };
  const key = (await readNodeKey(host.files, directory)) ?? drawNodeKey(host.chance);
  await writeNodeKey(host.files, directory, key);
  const http = createHttp({ ...server, token }, host);
  try {
    await http.call('joinNode', { body: { node: name, keyHash: hashSecret(key, host.digests) } });
  } finally {
    http.close();
  }
  await writeJoinedServer(host.files, directory, server);
  return addressOf(server, name, key);
}

function addressOf({ url, fingerprint }: JoinedServer, node: string, key: string): ServerAddress {
  return { url, fingerprint, token: `yk_${node}_${key}` };
}

function isTheSame(known: JoinedServer, { url }: ServerChoice): boolean {
  return url === undefined || readServerUrl(url) === known.url;
}

function notJoined(name: string, url: string | undefined): RefusalError {
  const where = url === undefined ? 'a server' : url;
  return new RefusalError(
    refuse('UNAUTHORIZED', `node ${name} has not joined ${where} from this home`, {
      hint: 'an administrator makes a join token (yard tokens create --join); start with --token-file FILE',
    }),
  );
}
