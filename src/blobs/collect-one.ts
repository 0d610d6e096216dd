import type { FileKind } from '../host/files.ts';
import type { BlobStore } from './blob-store.ts';
import { buildManifest } from './build-manifest.ts';
import { type CheckedLinks, keepInside } from './link-target.ts';
import type { ManifestEntry } from './manifest.ts';
import type { Materialised, MaterialisedFile } from './materialise.ts';
import { isLikePattern } from './output-pattern.ts';
import { type StoredEntry, storeFiles } from './read-tree.ts';
import type { StorageHost } from './storage-host.ts';
import { isWithin } from './tree-path.ts';
import { type Found, type Tree, walkTree } from './walk.ts';

/** What was there before the job began, by path. */
export interface PushedPaths {
  readonly files: ReadonlyMap<string, MaterialisedFile>;
  readonly directories: ReadonlySet<string>;
}

export function byPath(materialised: Materialised | null): PushedPaths {
  return {
    files: new Map((materialised?.files ?? []).map((file) => [file.path, file])),
    directories: new Set(materialised?.directories ?? []),
  };
}

interface OneOutput {
  /** Without links in it. */
  readonly workdir: string;
  /** Relative and checked. */
  readonly path: string;
  readonly pushed: PushedPaths;
  readonly store: BlobStore;
  readonly host: StorageHost;
  readonly checkpoint: () => void;
}

/** What one declared path came to. */
export type Verdict =
  | { readonly kind: 'collected'; readonly entries: readonly ManifestEntry[]; readonly sizeBytes: number }
  | { readonly kind: 'missing'; readonly why: string }
  | { readonly kind: 'refused'; readonly why: string };

const notRewritten = 'it was pushed with the workspace and the job did not write it again';

/** Reads one declared output into the store. A declared name that is itself a link is followed if it stays inside. */
export async function readOutput(output: OneOutput): Promise<Verdict> {
  const { workdir, path, host } = output;
  const named = `${workdir}/${path}`;
  const actual = await host.files.realPath(named);
  if (actual === null) return { kind: 'missing', why: await whyAbsent(output, named) };
  if (!isWithin(actual, workdir) || actual === workdir) {
    return { kind: 'refused', why: `a link leads outside the work directory, to ${actual}` };
  }
  const stat = await host.files.lstat(actual);
  if (stat === null) return { kind: 'missing', why: 'it vanished while outputs were collected' };
  if (stat.kind === 'file') return readFile(output, { path: actual.slice(workdir.length + 1), stat });
  if (stat.kind === 'directory') return readFolder(output, actual);
  return { kind: 'refused', why: `it is a ${stat.kind}, not a file or folder` };
}

async function whyAbsent({ path, host }: OneOutput, named: string): Promise<string> {
  const target = await host.files.readLink(named).catch(() => null);
  if (target !== null) return `link ${path} → ${target} leads nowhere`;
  return isLikePattern(path)
    ? `there is no file of that very name, and patterns are not expanded: name each file, or their folder`
    : 'the job did not write it';
}

async function readFile(output: OneOutput, file: Found): Promise<Verdict> {
  const { fresh } = await dropUntouched(output, [file]);
  if (fresh.length === 0) return { kind: 'missing', why: notRewritten };
  const [stored] = await store(output, output.workdir, fresh);
  if (stored === undefined) return { kind: 'missing', why: 'it vanished while outputs were collected' };
  return collected([{ ...stored, path: output.path }], { directories: [], links: [] });
}

async function readFolder(output: OneOutput, actual: string): Promise<Verdict> {
  const { workdir, path, host, checkpoint } = output;
  const tree = await walkTree({ root: actual, rules: null, files: host.files, onFolder: checkpoint });
  const below = (inner: string): string => `${path}/${inner}`;
  const special = tree.specials[0];
  if (special !== undefined) return { kind: 'refused', why: describeSpecial(below(special.path), special.kind) };
  const place = actual.slice(workdir.length + 1);
  const links = place === path ? linksInWorkdir(tree, place, workdir) : linksInFolder(tree, actual);
  if (links.kind === 'leaves')
    return { kind: 'refused', why: `link ${below(links.path)} → ${links.target} leads outside` };

  const found = tree.files.map((file) => ({ path: `${place}/${file.path}`, stat: file.stat }));
  const { fresh, untouched } = await dropUntouched(output, found);
  const pushed = output.pushed.directories;
  const isNewFolder = !pushed.has(place) || tree.directories.some((folder) => !pushed.has(`${place}/${folder.path}`));
  if (fresh.length === 0 && tree.links.length === 0 && (untouched > 0 || !isNewFolder)) {
    return { kind: 'missing', why: `nothing in it is new: ${notRewritten}` };
  }
  const stored = await store(output, workdir, fresh);
  const top = await host.files.lstat(actual);
  const directories = tree.directories.map((folder) => ({ ...folder, path: below(folder.path) }));
  if (top !== null) directories.push({ path, stat: top });
  const files = stored.map((entry) => ({ ...entry, path: path + entry.path.slice(place.length) }));
  return collected(files, { directories, links: links.kept.map((link) => ({ ...link, path: below(link.path) })) });
}

function describeSpecial(path: string, kind: FileKind): string {
  return `${path} is a ${kind}, not a file or folder`;
}

/** Links may point anywhere in the work directory, whose shape the landing folder repeats. */
function linksInWorkdir(tree: Tree, place: string, workdir: string): CheckedLinks {
  const atPlace = tree.links.map(({ path, target }) => ({ path: `${place}/${path}`, target }));
  const links = keepInside(atPlace, workdir);
  if (links.kind === 'leaves') return { ...links, path: links.path.slice(place.length + 1) };
  return { kind: 'stay', kept: links.kept.map((link) => ({ ...link, path: link.path.slice(place.length + 1) })) };
}

/** A folder that lands under another name than its own keeps only links within itself. */
function linksInFolder(tree: Tree, actual: string): CheckedLinks {
  return keepInside(tree.links, actual);
}

/** Leaves out pushed files that are as they were. A change of mode or name alone is no new content. */
async function dropUntouched(
  { workdir, pushed, host }: OneOutput,
  found: readonly Found[],
): Promise<{ fresh: readonly Found[]; untouched: number }> {
  const fresh: Found[] = [];
  for (const file of found) {
    const before = pushed.files.get(file.path);
    if (before === undefined || !(await isUntouched(before, file, workdir, host))) fresh.push(file);
  }
  return { fresh, untouched: found.length - fresh.length };
}

async function isUntouched(
  before: MaterialisedFile,
  file: Found,
  workdir: string,
  host: StorageHost,
): Promise<boolean> {
  const { stat } = file;
  if (stat.sizeBytes !== before.sizeBytes || stat.mtimeMs !== before.mtimeMs) return false;
  if (stat.ctimeMs === before.ctimeMs && stat.inode === before.inode) return true;
  const digest = await host.digests.sha256File(`${workdir}/${file.path}`);
  return digest?.hash === before.hash;
}

async function store(output: OneOutput, root: string, found: readonly Found[]): Promise<readonly StoredEntry[]> {
  const stored: StoredEntry[] = [];
  await storeFiles({ root, store: output.store, host: output.host }, found, {
    onStored: (entry) => stored.push(entry),
    onSent: () => {},
    checkpoint: output.checkpoint,
  });
  return stored;
}

function collected(
  files: readonly StoredEntry[],
  rest: { directories: readonly Found[]; links: readonly { path: string; target: string }[] },
): Verdict {
  const entries: readonly ManifestEntry[] = buildManifest({ files, ...rest }).entries;
  return { kind: 'collected', entries, sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) };
}
