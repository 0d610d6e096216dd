import { RefusalError } from '../client/refusal-error.ts';
import { embeddedName, readContexts, type ServerContext } from '../client/remote/contexts.ts';
import type { ServerAddress } from '../client/remote/outgoing.ts';
import { readServerUrl, readToken } from '../client/remote/server-url.ts';
import { refuse } from '../core/refusal.ts';

export interface ServerWish {
  /** `--server`. */
  readonly server: string | undefined;
  /** `--context`. */
  readonly context: string | undefined;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * The server that a command is about, or null for the control plane of the home: what was typed, else RUNYARD_SERVER,
 * else the context in use. RUNYARD_TOKEN is for the server that is named beside it, or for the context.
 */
export function chooseServer({ server, context, home, env }: ServerWish): ServerAddress | null {
  if (server !== undefined && context !== undefined) {
    throw new RefusalError(refuse('BAD_VALUE', '--server and --context exclude each other', { hint: 'leave one out' }));
  }
  if (context === embeddedName) return null;
  const named = server ?? (context === undefined ? filled(env.RUNYARD_SERVER) : undefined);
  const given = filled(env.RUNYARD_TOKEN);
  if (named !== undefined) return addressOf(readServerUrl(named), knownAt(home, readServerUrl(named)), given);
  const { current, contexts } = readContexts(home);
  const name = context ?? current;
  if (name === null) return null;
  const found = contexts[name];
  if (found !== undefined) return addressOf(found.url, found, given);
  const names = Object.keys(contexts).join(', ');
  const hint = names === '' ? 'yard login URL makes one' : `there are: ${names}, ${embeddedName}`;
  throw new RefusalError(refuse('NOT_FOUND', `there is no context ${JSON.stringify(name)}`, { hint }));
}

function addressOf(url: string, known: ServerContext | null, given: string | undefined): ServerAddress {
  if (given === undefined) return { url, fingerprint: known?.fingerprint ?? null, token: known?.token ?? null };
  const { token, fingerprint } = readToken(given);
  return { url, token, fingerprint: fingerprint ?? known?.fingerprint ?? null };
}

/** What a login to this very server left, so that naming its address is enough. */
function knownAt(home: string, url: string): ServerContext | null {
  const { current, contexts } = readContexts(home);
  const inUse = current === null ? undefined : contexts[current];
  if (inUse?.url === url) return inUse;
  return Object.values(contexts).find((one) => one.url === url) ?? null;
}

/** A variable that is set to nothing is not set. */
function filled(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
