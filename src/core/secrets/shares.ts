import type { Node } from '../node/node.ts';
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
 * What a node is to share now. Level-triggered, as orders are: asked for until it stands in the log. Of the nodes that
 * can open a secret, the first by name that is connected does it.
 */
export function sharesFor(state: State, node: string): readonly ShareRequest[] {
  const keys = new Set<string>();
  for (const { publicKey } of state.nodes.values()) if (publicKey !== null) keys.add(publicKey);
  const own = state.nodes.get(node)?.publicKey ?? null;
  if (own === null || keys.size < 2) return [];
  const up = connectedByName(state);
  return [...state.secrets.values()].flatMap((secret): ShareRequest[] => {
    const { project, name, boxes } = secret;
    const box = boxes.get(own);
    const missing = [...keys].filter((key) => !boxes.has(key));
    if (box === undefined || missing.length === 0) return [];
    const sharer = up.find(({ publicKey }) => publicKey !== null && boxes.has(publicKey));
    if (sharer?.name !== node) return [];
    const most = Math.max(1, Math.floor(mostCharacters / box.length));
    return [{ project, name, box, publicKeys: missing.sort().slice(0, most) }];
  });
}

function connectedByName(state: State): readonly Node[] {
  return [...state.nodes.values()]
    .filter(({ presence }) => presence.kind === 'up')
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}
