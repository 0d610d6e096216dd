import { compareByBytes } from '../host/byte-order.ts';
import type { Verdict } from './collect-one.ts';
import { leavesTree } from './link-target.ts';
import type { Manifest, ManifestEntry } from './manifest.ts';
import { parentOf } from './tree-path.ts';

/**
 * One manifest of all collected outputs. What each brought was checked by itself; here an output is refused that only
 * together with the others would make a link that leaves, or a file behind a link. Pure.
 */
export function joinOutputs(verdicts: readonly Verdict[]): { manifest: Manifest; settled: readonly Verdict[] } {
  const settled = [...verdicts];
  for (;;) {
    const entries = new Map<string, ManifestEntry>();
    for (const verdict of settled) {
      if (verdict.kind === 'collected') for (const entry of verdict.entries) entries.set(entry.path, entry);
    }
    const clash = settled.findIndex((verdict) => whyApart(verdict, entries) !== null);
    const verdict = settled[clash];
    const why = verdict === undefined ? null : whyApart(verdict, entries);
    if (why === null) {
      addParents(entries);
      const sorted = [...entries.values()].sort((left, right) => compareByBytes(left.path, right.path));
      return { manifest: { version: 1, entries: sorted }, settled };
    }
    settled[clash] = { kind: 'refused', why };
  }
}

function whyApart(verdict: Verdict, entries: ReadonlyMap<string, ManifestEntry>): string | null {
  if (verdict.kind !== 'collected') return null;
  const linkAt = (path: string): string | null => {
    const entry = entries.get(path);
    return entry?.kind === 'link' ? entry.target : null;
  };
  for (const entry of verdict.entries) {
    if (entry.kind === 'link' && leavesTree(entry, linkAt)) return `link ${entry.path} → ${entry.target} leads outside`;
    for (let parent = parentOf(entry.path); parent !== ''; parent = parentOf(parent)) {
      if (linkAt(parent) !== null) return `${parent} is a link that another output brings along`;
    }
  }
  return null;
}

function addParents(entries: Map<string, ManifestEntry>): void {
  for (const path of [...entries.keys()]) {
    for (let parent = parentOf(path); parent !== '' && !entries.has(parent); parent = parentOf(parent)) {
      entries.set(parent, { kind: 'directory', path: parent, mode: 0o755 });
    }
  }
}
