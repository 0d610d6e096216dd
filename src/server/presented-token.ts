import type { Presented as OurToken } from '../control/tokens.ts';

/**
 * What stands behind `Authorization: Bearer`. Users present `yt_<id>_<secret>`, joining nodes `yj_<id>_<secret>`, nodes
 * `yk_<node>_<secret>`; anything else can only be a token of the OIDC issuer.
 */
export type Presented = OurToken | { readonly kind: 'identity'; readonly text: string };

const longest = 16 * 1024;
const ours = /^y([tjk])_([a-z0-9-]{1,64})_([A-Za-z0-9_-]{16,200})$/;

/** Null where nothing that could be a token is presented. */
export function readPresented(authorization: string | undefined): Presented | null {
  const text = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1];
  if (text === undefined || text.length > longest) return null;
  // A pinned fingerprint may follow a token where it is handed out; what is presented need not carry it.
  const [, kind, id, secret] = ours.exec(text.split('@')[0] ?? '') ?? [];
  if (id === undefined || secret === undefined) return { kind: 'identity', text };
  if (kind === 'k') return { kind: 'node', node: id, secret };
  return { kind: kind === 't' ? 'user' : 'join', id, secret };
}

/** True for a text with a token of ours in it, as it must never stand in a URL or a log [R4.24]. */
export function holdsToken(text: string): boolean {
  return /y[tjk]_[a-z0-9-]{1,64}_[A-Za-z0-9_-]{16}/.test(text);
}
