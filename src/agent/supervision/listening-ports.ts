import { type Files, HostError } from '../../host/files.ts';
import type { Host } from '../../host/host.ts';
import type { TreeSearch } from '../../host/processes.ts';

/** The TCP ports on which an attempt's processes listen, in order. Empty where the system does not tell (macOS). */
export async function listeningPorts(
  host: Pick<Host, 'files' | 'processes'>,
  search: TreeSearch,
): Promise<readonly number[]> {
  const sockets = new Set<string>();
  for (const { pid } of await host.processes.findMarked(search)) {
    for (const inode of await socketsOf(host.files, pid)) sockets.add(inode);
  }
  if (sockets.size === 0) return [];
  const ports = new Set<number>();
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const bytes = await orNull(host.files.read(table));
    if (bytes === null) continue;
    for (const { port, inode } of parseListeners(new TextDecoder().decode(bytes))) {
      if (sockets.has(inode)) ports.add(port);
    }
  }
  return [...ports].sort((a, b) => a - b);
}

/** The kernel's number for a socket that listens. */
const listenState = '0A';

/** Reads lines such as `0: 0100007F:1F40 00000000:0000 0A … 0 0 31337 …`: local address, state and inode. */
export function parseListeners(text: string): readonly { readonly port: number; readonly inode: string }[] {
  return text.split('\n').flatMap((line) => {
    const fields = line.trim().split(/\s+/);
    const [, local = '', , state, , , , , , inode = ''] = fields;
    const port = Number.parseInt(local.split(':').at(-1) ?? '', 16);
    return state === listenState && !Number.isNaN(port) ? [{ port, inode }] : [];
  });
}

async function socketsOf(files: Files, pid: number): Promise<readonly string[]> {
  const directory = `/proc/${pid}/fd`;
  const entries = (await orNull(files.list(directory))) ?? [];
  const inodes: string[] = [];
  for (const { name } of entries) {
    const target = await orNull(files.readLink(`${directory}/${name}`));
    const inode = /^socket:\[(\d+)\]$/.exec(target ?? '')?.[1];
    if (inode !== undefined) inodes.push(inode);
  }
  return inodes;
}

/** A process that ended meanwhile, or that is not ours to look into, tells nothing. */
async function orNull<T>(read: Promise<T | null>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof HostError) return null;
    throw error;
  }
}
