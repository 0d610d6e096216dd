import type { Capacity } from '../../../core/node/node.ts';
import { type Files, HostError } from '../../../host/files.ts';
import type { Fingerprint } from '../fingerprint.ts';

/** The server that a node has joined; kept in the node's directory, so that later starts need to be told nothing. */
export interface JoinedServer {
  readonly url: string;
  readonly fingerprint: Fingerprint | null;
}

/** Null for a node that has joined none. */
export async function readJoinedServer(files: Files, directory: string): Promise<JoinedServer | null> {
  const bytes = await files.read(`${directory}/server.json`);
  if (bytes === null) return null;
  const { url, fingerprint } = JSON.parse(new TextDecoder().decode(bytes)) as JoinedServer;
  return { url, fingerprint };
}

export async function writeJoinedServer(files: Files, directory: string, server: JoinedServer): Promise<void> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(server)}\n`);
  await files.writeAtomic(`${directory}/server.json`, bytes, { mode: 0o600, sync: true });
}

/** The node's own key; null when none was drawn yet. */
export async function readNodeKey(files: Files, directory: string): Promise<string | null> {
  const path = `${directory}/node.key`;
  const stat = await files.stat(path);
  if (stat === null) return null;
  if ((stat.mode & 0o077) !== 0) {
    throw new HostError('EACCES', `${path} can be read by others: it must have mode 600 (chmod 600 ${path})`, path);
  }
  const bytes = await files.read(path);
  return bytes === null ? null : new TextDecoder().decode(bytes).trim();
}

/** Kept before anybody is told its digest: should the agent die in between, the next one presents the same key. */
export async function writeNodeKey(files: Files, directory: string, key: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${key}\n`);
  await files.writeAtomic(`${directory}/node.key`, bytes, { mode: 0o600, sync: true });
}

/** What the node offers, for whoever starts it in the background and wants to see it. */
export async function writeOffer(files: Files, directory: string, capacity: Capacity): Promise<void> {
  await files.writeAtomic(`${directory}/offer.json`, new TextEncoder().encode(`${JSON.stringify(capacity)}\n`));
}

export async function readOffer(files: Files, directory: string): Promise<Capacity | null> {
  const bytes = await files.read(`${directory}/offer.json`);
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as Capacity);
}
