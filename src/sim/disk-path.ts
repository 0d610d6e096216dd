import { HostError } from '../host/files.ts';
import type { DiskFolder, DiskNode } from './disk-node.ts';

/** Where a path leads: the folder that has (or would have) the name, and what stands there. */
export interface Place {
  readonly folder: DiskFolder;
  readonly name: string;
  readonly node: DiskNode | null;
  /** The path with every link resolved. */
  readonly path: string;
}

const mostLinks = 40;

/** Walks a path; null when a folder on the way is absent. Throws HostError `ELOOP` for links that lead round in circles. */
export function walkPath(root: DiskFolder, path: string, options: { readonly follow: boolean }): Place | null {
  let parts = split(path);
  let links = 0;
  for (;;) {
    const step = descend(root, parts, options.follow);
    if (step === null || step.kind === 'place') return step === null ? null : step.place;
    links += 1;
    if (links > mostLinks) throw new HostError('ELOOP', `too many links in ${path}`, path);
    parts = step.parts;
  }
}

type Step = { readonly kind: 'place'; readonly place: Place } | { readonly kind: 'link'; readonly parts: string[] };

/** Goes down until a link must be followed; then gives the path that it leads to. */
function descend(root: DiskFolder, parts: readonly string[], follow: boolean): Step | null {
  let folder = root;
  if (parts.length === 0) return { kind: 'place', place: { folder: root, name: '', node: root, path: '/' } };
  for (let i = 0; ; i += 1) {
    const name = parts[i] ?? '';
    const isLast = i === parts.length - 1;
    const node = folder.children.get(name) ?? null;
    if (node?.kind === 'link' && (!isLast || follow)) {
      const before = node.target.startsWith('/') ? [] : parts.slice(0, i);
      return { kind: 'link', parts: normalise([...before, ...node.target.split('/'), ...parts.slice(i + 1)]) };
    }
    if (isLast) return { kind: 'place', place: { folder, name, node, path: `/${parts.join('/')}` } };
    if (node?.kind !== 'directory') return null;
    folder = node;
  }
}

/** The same few paths are walked again and again. */
const splitBefore = new Map<string, readonly string[]>();
const mostPaths = 10_000;

function split(path: string): readonly string[] {
  const known = splitBefore.get(path);
  if (known !== undefined) return known;
  if (!path.startsWith('/')) throw new HostError('EINVAL', `expected an absolute path, found ${path}`, path);
  if (splitBefore.size >= mostPaths) splitBefore.clear();
  const parts = normalise(path.split('/'));
  splitBefore.set(path, parts);
  return parts;
}

function normalise(parts: readonly string[]): string[] {
  const clean: string[] = [];
  for (const part of parts) {
    if (part === '..') clean.pop();
    else if (part !== '' && part !== '.') clean.push(part);
  }
  return clean;
}
