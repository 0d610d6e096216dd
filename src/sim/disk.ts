import { type FileStat, HostError } from '../host/files.ts';
import { type DiskFile, type DiskFolder, type DiskNode, roomOf, sizeOf } from './disk-node.ts';
import { type Place, walkPath } from './disk-path.ts';
import type { Random } from './random.ts';

const capacityBytes = 8 * 1024 ** 3;

/**
 * A disk in memory. Calls have their effect at once; the time they take is the caller's business.
 *
 * The bytes of a file survive a loss of power for sure only once that file has been synced. Names do as a file system
 * has it: one with a journal writes down every change of names so far whenever anything is synced; a careless one only
 * those in the folder of what was synced.
 */
export class Disk {
  readonly root: DiskFolder;
  readonly #wallMs: () => number;
  readonly #hasJournal: boolean;
  readonly #watches = new Set<{ readonly path: string; readonly tell: () => void }>();
  readonly #movedFolders = new Set<DiskFolder>();
  /** Folders between which something was moved: such a move survives in both or in neither. */
  readonly #tied = new Map<DiskFolder, Set<DiskFolder>>();
  readonly #writtenFiles = new Set<DiskFile>();
  #inodes = 1;
  #usedBytes = 0;
  #fillBytes = 0;

  constructor({ wallMs, hasJournal }: { readonly wallMs: () => number; readonly hasJournal: boolean }) {
    this.#wallMs = wallMs;
    this.#hasJournal = hasJournal;
    this.root = this.#newFolder(0o755);
  }

  get freeBytes(): number {
    return capacityBytes - this.#usedBytes - this.#fillBytes;
  }

  /** Somebody else takes all that is free, or gives back what he took. */
  fill(isFull: boolean): void {
    this.#fillBytes = isFull ? capacityBytes - this.#usedBytes : 0;
  }

  find(path: string, options = { follow: true }): DiskNode | null {
    return walkPath(this.root, path, options)?.node ?? null;
  }

  place(path: string, options = { follow: true }): Place {
    const place = walkPath(this.root, path, options);
    if (place === null) throw new HostError('ENOENT', `no such directory: ${path}`, path);
    return place;
  }

  stat(path: string, options = { follow: true }): FileStat | null {
    const node = this.find(path, options);
    if (node === null) return null;
    const { kind, mode, mtimeMs, ctimeMs, inode } = node;
    return { kind, mode, mtimeMs, ctimeMs, inode, sizeBytes: sizeOf(node), links: 1 };
  }

  read(path: string): Uint8Array | null {
    const node = this.find(path);
    if (node?.kind === 'directory') throw new HostError('EISDIR', `${path} is a directory`, path);
    return node?.kind === 'file' ? node.bytes : null;
  }

  /** Creates the file, or cuts it to nothing, and returns it; with `exclusive` null when the path exists. */
  open(path: string, options: { mode?: number; exclusive?: boolean; keep?: boolean } = {}): DiskFile | null {
    const place = this.place(path, { follow: options.exclusive !== true });
    const { folder, name, node } = place;
    if (node !== null && options.exclusive === true) return null;
    if (node !== null && node.kind !== 'file') throw new HostError('EISDIR', `${path} is a ${node.kind}`, path);
    if (node !== null) {
      if (options.keep !== true) this.setBytes(path, node, new Uint8Array());
      if (options.mode !== undefined) node.mode = options.mode;
      return node;
    }
    const file = this.#newFile(options.mode ?? 0o644);
    this.#setChild(folder, name, file);
    this.#changed(place.path);
    return file;
  }

  /** Throws HostError `ENOSPC` when there is no room; the file is then as it was. */
  setBytes(path: string, file: DiskFile, bytes: Uint8Array): void {
    const more = bytes.length - file.bytes.length;
    if (more > 0 && more > this.freeBytes) throw new HostError('ENOSPC', `no space left on device: ${path}`, path);
    this.#usedBytes += more;
    file.bytes = bytes;
    file.mtimeMs = this.#wallMs();
    file.ctimeMs = file.mtimeMs;
    this.#writtenFiles.add(file);
    this.#changed(path);
  }

  append(path: string, bytes: Uint8Array): DiskFile {
    const file = this.open(path, { keep: true });
    if (file === null) throw new HostError('EEXIST', `${path} exists`, path);
    const joined = new Uint8Array(file.bytes.length + bytes.length);
    joined.set(file.bytes);
    joined.set(bytes, file.bytes.length);
    this.setBytes(path, file, joined);
    return file;
  }

  reserve(path: string, sizeBytes: number): boolean {
    if (sizeBytes > this.freeBytes) return false;
    const file = this.open(path);
    if (file === null) return false;
    file.reservedBytes = sizeBytes;
    this.#usedBytes += sizeBytes;
    return true;
  }

  makeFolder(path: string, mode: number | undefined): void {
    const above = path.slice(0, path.lastIndexOf('/'));
    if (above !== '' && this.find(above) === null) this.makeFolder(above, mode);
    const place = this.place(path);
    if (place.node?.kind === 'directory') return;
    if (place.node !== null) throw new HostError('EEXIST', `${path} is a ${place.node.kind}`, path);
    this.#setChild(place.folder, place.name, this.#newFolder(mode ?? 0o755));
    this.#changed(place.path);
  }

  makeLink(target: string, path: string): void {
    const { folder, name, node } = this.place(path, { follow: false });
    if (node !== null) throw new HostError('EEXIST', `${path} exists`, path);
    this.#setChild(folder, name, { kind: 'link', target, ...this.#attributes(0o777) });
  }

  rename(from: string, to: string): void {
    const source = this.place(from, { follow: false });
    if (source.node === null) throw new HostError('ENOENT', `no such file: ${from}`, from);
    const target = this.place(to, { follow: false });
    if (target.node === source.node) return;
    if (target.node?.kind === 'directory' && target.node.children.size > 0) {
      throw new HostError('ENOTEMPTY', `${to} is not empty`, to);
    }
    if (target.node !== null) this.#usedBytes -= roomOf(target.node);
    this.#deleteChild(source.folder, source.name);
    this.#setChild(target.folder, target.name, source.node);
    this.#tie(source.folder, target.folder);
    source.node.ctimeMs = this.#wallMs();
    this.#changed(source.path);
    this.#changed(target.path);
  }

  remove(path: string): void {
    const place = walkPath(this.root, path, { follow: false });
    if (place === null || place.node === null) return;
    this.#usedBytes -= roomOf(place.node);
    this.#deleteChild(place.folder, place.name);
    this.#changed(place.path);
  }

  setTimes(path: string, mtimeMs: number): void {
    const { node } = this.place(path, { follow: false });
    if (node === null) throw new HostError('ENOENT', `no such file: ${path}`, path);
    node.mtimeMs = mtimeMs;
    node.ctimeMs = this.#wallMs();
  }

  chmod(path: string, mode: number): void {
    const { node } = this.place(path);
    if (node === null) throw new HostError('ENOENT', `no such file: ${path}`, path);
    node.mode = mode;
    node.ctimeMs = this.#wallMs();
  }

  /** Writes down the bytes of the file at the path, when it is one, and its name. */
  sync(path: string): void {
    const { node, folder } = this.place(path);
    if (node?.kind === 'file') {
      node.durable = node.bytes;
      this.#writtenFiles.delete(node);
    }
    for (const moved of this.#hasJournal ? this.#movedFolders : this.#tiedTo(folder)) {
      moved.durable = new Map(moved.children);
      this.#movedFolders.delete(moved);
      this.#tied.delete(moved);
    }
  }

  /** Writes everything down, as a system does by itself now and then. */
  flush(): void {
    for (const folder of this.#movedFolders) folder.durable = new Map(folder.children);
    for (const file of this.#writtenFiles) file.durable = file.bytes;
    this.#movedFolders.clear();
    this.#writtenFiles.clear();
    this.#tied.clear();
  }

  /** What was not synced may be there afterwards or not. */
  losePower(random: Random): void {
    const losesNames = random.happens(0.5);
    for (const folder of this.#movedFolders) {
      const loses = this.#hasJournal ? losesNames : random.happens(0.5);
      for (const moved of this.#tiedTo(folder)) {
        if (loses) moved.children = new Map(moved.durable);
        this.#movedFolders.delete(moved);
      }
    }
    this.#tied.clear();
    for (const file of this.#writtenFiles) if (random.happens(0.5)) file.bytes = file.durable;
    this.#movedFolders.clear();
    this.#writtenFiles.clear();
    settle(this.root);
    this.#usedBytes = roomOf(this.root);
  }

  /** Tells of every change at the path or directly below it. */
  watch(path: string, tell: () => void): () => void {
    const watch = { path, tell };
    this.#watches.add(watch);
    return () => this.#watches.delete(watch);
  }

  #tie(one: DiskFolder, other: DiskFolder): void {
    if (one === other) return;
    const all = new Set([...this.#tiedTo(one), ...this.#tiedTo(other)]);
    for (const folder of all) this.#tied.set(folder, all);
  }

  #tiedTo(folder: DiskFolder): ReadonlySet<DiskFolder> {
    return this.#tied.get(folder) ?? new Set([folder]);
  }

  #changed(path: string): void {
    const above = path.slice(0, path.lastIndexOf('/'));
    for (const watch of this.#watches) if (watch.path === path || watch.path === above) watch.tell();
  }

  #setChild(folder: DiskFolder, name: string, node: DiskNode): void {
    folder.children.set(name, node);
    folder.mtimeMs = this.#wallMs();
    this.#movedFolders.add(folder);
  }

  #deleteChild(folder: DiskFolder, name: string): void {
    folder.children.delete(name);
    folder.mtimeMs = this.#wallMs();
    this.#movedFolders.add(folder);
  }

  #newFile(mode: number): DiskFile {
    const bytes = new Uint8Array();
    return { kind: 'file', bytes, durable: bytes, reservedBytes: 0, ...this.#attributes(mode) };
  }

  #newFolder(mode: number): DiskFolder {
    return { kind: 'directory', children: new Map(), durable: new Map(), ...this.#attributes(mode) };
  }

  #attributes(mode: number): { inode: number; mode: number; mtimeMs: number; ctimeMs: number } {
    const atMs = this.#wallMs();
    this.#inodes += 1;
    return { inode: this.#inodes, mode, mtimeMs: atMs, ctimeMs: atMs };
  }
}

/** After the power came back, what is there is what is on the disk. */
function settle(folder: DiskFolder): void {
  folder.durable = new Map(folder.children);
  for (const child of folder.children.values()) {
    if (child.kind === 'directory') settle(child);
    if (child.kind === 'file') child.durable = child.bytes;
  }
}
