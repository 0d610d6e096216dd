import { parentOf } from './tree-path.ts';

/** As in the kernel: more hops than this is a loop, which leads nowhere and so nowhere outside. */
const maxHops = 40;

/**
 * True when following a link of a tree could leave the tree: its target is walked part by part, through the tree's own
 * other links, and must never rise above the top. What does not exist counts as a plain name. Pure.
 */
export function leavesTree(link: Link, linkAt: (path: string) => string | null): boolean {
  if (link.target.startsWith('/')) return true;
  const at = parentOf(link.path) === '' ? [] : parentOf(link.path).split('/');
  const parts = link.target.split('/').reverse();
  for (let hops = 0; hops <= maxHops; ) {
    const part = parts.pop();
    if (part === undefined) return false;
    if (part === '' || part === '.') continue;
    if (part === '..') {
      if (at.pop() === undefined) return true;
      continue;
    }
    at.push(part);
    const target = linkAt(at.join('/'));
    if (target === null) continue;
    if (target.startsWith('/')) return true;
    hops++;
    at.pop();
    parts.push(...target.split('/').reverse());
  }
  return false;
}

export type CheckedLinks =
  | { readonly kind: 'stay'; readonly kept: readonly Link[] }
  /** The first that leaves, with its target as found. */
  | { readonly kind: 'leaves'; readonly path: string; readonly target: string };

interface Link {
  readonly path: string;
  readonly target: string;
}

/** Checks all links of a tree at `root` and makes their targets relative. */
export function keepInside(links: readonly Link[], root: string): CheckedLinks {
  const kept = links.map((link) => ({ path: link.path, target: relativeTarget(link, root) }));
  const targets = new Map(kept.map(({ path, target }) => [path, target]));
  const leaving = kept.findIndex((link) => leavesTree(link, (path) => targets.get(path) ?? null));
  const found = links[leaving];
  return found === undefined ? { kind: 'stay', kept } : { kind: 'leaves', path: found.path, target: found.target };
}

/** An absolute target inside `root` as a relative one, so that it means the same wherever the tree lands. */
export function relativeTarget(link: Link, root: string): string {
  const { path, target } = link;
  if (!target.startsWith('/')) return target;
  const parts = normalParts(target);
  const rootParts = normalParts(root);
  if (rootParts.some((part, i) => parts[i] !== part)) return target;
  const inside = parts.slice(rootParts.length);
  const from = parentOf(path)
    .split('/')
    .filter((part) => part !== '');
  const shared = from.findIndex((part, i) => part !== inside[i]);
  const common = shared < 0 ? Math.min(from.length, inside.length) : shared;
  const relative = [...from.slice(common).map(() => '..'), ...inside.slice(common)].join('/');
  return relative === '' ? '.' : relative;
}

/** An absolute path's parts; one with `..` in it is left to look foreign, since its meaning hangs on links outside. */
function normalParts(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}
