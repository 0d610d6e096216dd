import type { State } from '../state.ts';

/** What a node is asked to do: open its box of a secret and seal the value for nodes that came later. */
export interface ShareRequest {
  readonly project: string;
  readonly name: string;
  /** Its own box. */
  readonly box: string;
  /** Whom to seal it to. */
  readonly publicKeys: readonly string[];
}

/** What comes back for one request must fit into a message; the nodes that are left are asked for next. */
const mostCharacters = 512 * 1024;

/**
 * What nodes are to share now, by node. Level-triggered, as orders are: asked for until it stands in the log. Of the
 * nodes that can open a secret, the first by name that is connected does it.
 */
export function sharesOf(state: State): ReadonlyMap<string, readonly ShareRequest[]> {
  const shares = new Map<string, ShareRequest[]>();
  const { keys, connected } = keysOf(state);
  if (keys.size < 2) return shares;
  for (const { project, name, boxes } of state.secrets.values()) {
    const missing = [...keys].filter((key) => !boxes.has(key));
    const sharer = missing.length === 0 ? undefined : connected.find(({ key }) => boxes.has(key));
    const box = sharer === undefined ? undefined : boxes.get(sharer.key);
    if (sharer === undefined || box === undefined) continue;
    const publicKeys = missing.sort().slice(0, Math.max(1, Math.floor(mostCharacters / box.length)));
    shares.set(sharer.node, [...(shares.get(sharer.node) ?? []), { project, name, box, publicKeys }]);
  }
  return shares;
}

/** The keys of all nodes, and the nodes that could open something, by name. */
function keysOf(state: State): {
  readonly keys: ReadonlySet<string>;
  readonly connected: readonly { readonly node: string; readonly key: string }[];
} {
  const keys = new Set<string>();
  const connected: { node: string; key: string }[] = [];
  for (const { name, publicKey, presence } of state.nodes.values()) {
    if (publicKey === null) continue;
    keys.add(publicKey);
    if (presence.kind === 'up') connected.push({ node: name, key: publicKey });
  }
  return { keys, connected: connected.sort((a, b) => (a.node < b.node ? -1 : 1)) };
}
