/** What stands on a virtual disk. `durable` is what a loss of power leaves of it at least. */
export type DiskNode = DiskFile | DiskFolder | DiskLink;

interface Common {
  readonly inode: number;
  mode: number;
  mtimeMs: number;
  ctimeMs: number;
}

export interface DiskFile extends Common {
  readonly kind: 'file';
  bytes: Uint8Array;
  /** Room it takes beyond its bytes. */
  reservedBytes: number;
  durable: Uint8Array;
}

export interface DiskFolder extends Common {
  readonly kind: 'directory';
  children: Map<string, DiskNode>;
  durable: Map<string, DiskNode>;
}

export interface DiskLink extends Common {
  readonly kind: 'link';
  readonly target: string;
}

export function sizeOf(node: DiskNode): number {
  return node.kind === 'file' ? node.bytes.length + node.reservedBytes : 0;
}

/** Room that a node and all below it take. */
export function roomOf(node: DiskNode): number {
  if (node.kind !== 'directory') return sizeOf(node);
  let total = 0;
  for (const child of node.children.values()) total += roomOf(child);
  return total;
}
