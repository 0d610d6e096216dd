import type { Files } from '../../host/files.ts';

/**
 * Secrets that stay on the node: one file each, sealed to the node's own key, so that a copy of the folder alone gives
 * nothing away. The control plane learns their names.
 */
export function nodeSecretsDirectory(nodeDirectory: string): string {
  return `${nodeDirectory}/secrets`;
}

/** Their names, in byte order. */
export async function nodeSecretNames(files: Files, nodeDirectory: string): Promise<readonly string[]> {
  const entries = (await files.list(nodeSecretsDirectory(nodeDirectory))) ?? [];
  return entries.filter(({ kind, name }) => kind === 'file' && isName(name)).map(({ name }) => name);
}

/** Calls back after one was set or removed. The folder is there already. Returns a function that ends it. */
export function watchNodeSecrets(files: Files, nodeDirectory: string, listener: () => void): () => void {
  return files.watch(nodeSecretsDirectory(nodeDirectory), listener);
}

/** The sealed box; null when there is no such secret. */
export async function readNodeSecret(files: Files, nodeDirectory: string, name: string): Promise<string | null> {
  if (!isName(name)) return null;
  const bytes = await files.read(`${nodeSecretsDirectory(nodeDirectory)}/${name}`);
  return bytes === null ? null : new TextDecoder().decode(bytes).trim();
}

export async function writeNodeSecret(files: Files, nodeDirectory: string, name: string, box: string): Promise<void> {
  await files.makeDirectory(nodeSecretsDirectory(nodeDirectory), { mode: 0o700 });
  const path = `${nodeSecretsDirectory(nodeDirectory)}/${name}`;
  await files.writeAtomic(path, new TextEncoder().encode(`${box}\n`), { mode: 0o600, sync: true });
}

/** False when there was none. */
export async function removeNodeSecret(files: Files, nodeDirectory: string, name: string): Promise<boolean> {
  const path = `${nodeSecretsDirectory(nodeDirectory)}/${name}`;
  if (!isName(name) || (await files.stat(path)) === null) return false;
  await files.remove(path);
  return true;
}

/** What is being written has a longer name; no path leads out of the folder. */
function isName(name: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(name) && !name.endsWith('.tmp');
}
