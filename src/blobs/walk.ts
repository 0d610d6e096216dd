import { compareByBytes } from '../host/byte-order.ts';
import type { DirectoryEntry, FileKind, FileStat, Files } from '../host/files.ts';
import { type Excludes, enterFolder, isExcluded, startExcludes } from './exclude.ts';
import { TreeRefusal } from './tree-refusal.ts';

export interface Found {
  readonly path: string;
  readonly stat: FileStat;
}

/** What stands in a directory, by kind, each in byte order of the paths. */
export interface Tree {
  readonly files: readonly Found[];
  readonly directories: readonly Found[];
  readonly links: readonly { readonly path: string; readonly target: string }[];
  readonly specials: readonly { readonly path: string; readonly kind: FileKind }[];
}

export interface WalkOptions {
  /** Absolute, without links in it. */
  readonly root: string;
  /** The ignore rules; null takes everything, as for outputs. */
  readonly rules: {
    readonly exclude: readonly string[];
    /** Absolute paths of folders that never travel. */
    readonly landing: readonly string[];
  } | null;
  readonly files: Files;
  /** Called after each folder; throw to stop. */
  readonly onFolder?: (found: readonly Found[]) => void;
}

/** Landings under way, so that no push takes a half-collected tree along. */
export const landingPrefix = '.runyard-landing-';
const ignoreFileNames = ['.gitignore', '.yardignore'];
/** A folder with one of these in it can be made again, and says so. */
const throwawayMarks = new Set(['pyvenv.cfg', 'CACHEDIR.TAG']);

interface Folder {
  readonly path: string;
  readonly stat: FileStat | null;
  readonly above: Excludes | null;
}

interface Gathered {
  readonly files: Found[];
  readonly directories: Found[];
  readonly links: { path: string; target: string }[];
  readonly specials: { path: string; kind: FileKind }[];
}

/** Walks a tree without following a link. Throws TreeRefusal `BAD_NAME` for a name that is not UTF-8. */
export async function walkTree(options: WalkOptions): Promise<Tree> {
  const tree: Gathered = { files: [], directories: [], links: [], specials: [] };
  const above = options.rules === null ? null : startExcludes(options.rules.exclude);
  const todo: Folder[] = [{ path: '', stat: null, above }];
  for (let folder = todo.pop(); folder !== undefined; folder = todo.pop()) {
    const entries = await options.files.list(absolute(options, folder.path));
    if (entries === null || isThrowaway(options, folder, entries)) continue;
    if (folder.stat !== null) tree.directories.push({ path: folder.path, stat: folder.stat });
    const before = tree.files.length;
    for (const below of await gatherFolder(options, folder, entries, tree)) todo.push(below);
    options.onFolder?.(tree.files.slice(before));
  }
  const byPath = (left: { path: string }, right: { path: string }): number => compareByBytes(left.path, right.path);
  for (const list of [tree.files, tree.directories, tree.links, tree.specials]) list.sort(byPath);
  return tree;
}

/** Adds what stands in one folder to the tree and returns the folders below it. */
async function gatherFolder(
  options: WalkOptions,
  folder: Folder,
  entries: readonly DirectoryEntry[],
  tree: Gathered,
): Promise<readonly Folder[]> {
  const below: Folder[] = [];
  const excludes = folder.above === null ? null : await readRules(options, folder.path, folder.above, entries);
  const kept = entries
    .map(({ name, kind }) => ({ name, path: join(folder.path, name), isDirectory: kind === 'directory' }))
    .filter((entry) => excludes === null || travels(options, excludes, entry));
  const stats = await options.files.lstatMany(kept.map(({ path }) => absolute(options, path)));
  for (const [i, { path }] of kept.entries()) {
    const stat = stats[i] ?? null;
    if (stat === null) checkName(path);
    else if (stat.kind === 'file') tree.files.push({ path, stat });
    else if (stat.kind === 'directory') below.push({ path, stat, above: excludes });
    else if (stat.kind === 'link') {
      const target = await options.files.readLink(absolute(options, path));
      if (target !== null) tree.links.push({ path, target });
    } else tree.specials.push({ path, kind: stat.kind });
  }
  return below;
}

async function readRules(
  options: WalkOptions,
  folder: string,
  above: Excludes,
  entries: readonly DirectoryEntry[],
): Promise<Excludes> {
  const texts: string[] = [];
  for (const name of ignoreFileNames) {
    // Git does not follow a link that is called .gitignore either.
    if (!entries.some((entry) => entry.name === name && entry.kind === 'file')) continue;
    const bytes = await options.files.read(absolute(options, join(folder, name)));
    if (bytes !== null) texts.push(new TextDecoder().decode(bytes));
  }
  return enterFolder(above, folder, texts);
}

function travels(
  options: WalkOptions,
  excludes: Excludes,
  entry: { name: string; path: string; isDirectory: boolean },
): boolean {
  if (entry.name === '.git' || entry.name.startsWith(landingPrefix)) return false;
  if (entry.isDirectory && options.rules?.landing.includes(absolute(options, entry.path))) return false;
  return !isExcluded(excludes, entry.path, entry.isDirectory);
}

function isThrowaway(options: WalkOptions, folder: Folder, entries: readonly DirectoryEntry[]): boolean {
  return options.rules !== null && folder.path !== '' && entries.some(({ name }) => throwawayMarks.has(name));
}

/** What vanished meanwhile is no error; what the listing could not spell is. */
function checkName(path: string): void {
  if (!path.includes('\ufffd')) return;
  throw new TreeRefusal('BAD_NAME', {
    path,
    message: `the name ${JSON.stringify(path)} is not UTF-8 and cannot travel`,
    hint: 'rename it, or exclude its folder',
  });
}

function absolute({ root }: WalkOptions, path: string): string {
  if (path === '') return root;
  return root === '/' ? `/${path}` : `${root}/${path}`;
}

function join(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}
