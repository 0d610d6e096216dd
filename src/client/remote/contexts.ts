import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { refuse } from '../../core/refusal.ts';
import { RefusalError } from '../refusal-error.ts';

/** Servers that a person signed in to, in `<home>/contexts.json`, readable by nobody else. */
export interface Contexts {
  /** Null: the control plane of the home itself. */
  readonly current: string | null;
  readonly contexts: Readonly<Record<string, ServerContext>>;
}

export interface ServerContext {
  readonly url: string;
  /** `sha256:…` of the certificate; null where those that this machine trusts may sign it. */
  readonly fingerprint: string | null;
  readonly token: string | null;
  readonly user: string | null;
}

const none: Contexts = { current: null, contexts: {} };

/** The word for the control plane of the home, where a name of a context is asked for. */
export const embeddedName = 'embedded';

export function contextsPath(home: string): string {
  return `${home}/contexts.json`;
}

export function readContexts(home: string): Contexts {
  const path = contextsPath(home);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return none;
    throw error;
  }
  const read = contextsOf(parseOrNull(text));
  if (read !== null) return read;
  const message = `${path} cannot be read as a list of contexts`;
  throw new RefusalError(refuse('BAD_VALUE', message, { hint: 'move it away, then yard login URL' }));
}

/** Whole or not at all. */
export function writeContexts(home: string, contexts: Contexts): void {
  const path = contextsPath(home);
  const fresh = `${path}.${process.pid}.new`;
  writeFileSync(fresh, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
  chmodSync(fresh, 0o600);
  renameSync(fresh, path);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is wrong is said by whoever finds null to be no list of contexts.
    return null;
  }
}

/** Read without a schema: this is part of the start of every command. */
function contextsOf(value: unknown): Contexts | null {
  if (!isTable(value) || !isTable(value.contexts) || !isTextOrNull(value.current)) return null;
  const contexts: Record<string, ServerContext> = {};
  for (const [name, one] of Object.entries(value.contexts)) {
    if (!isTable(one) || typeof one.url !== 'string') return null;
    const { url, fingerprint, token, user } = one;
    if (!isTextOrNull(fingerprint) || !isTextOrNull(token) || !isTextOrNull(user)) return null;
    contexts[name] = { url, fingerprint, token, user };
  }
  return { current: value.current, contexts };
}

function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}
