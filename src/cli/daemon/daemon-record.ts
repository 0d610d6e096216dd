import { readFile, rm, writeFile } from 'node:fs/promises';
import { createNodeProcesses, type NodeProcesses } from '../../host/node/processes.ts';
import type { ProcessIdentity } from '../../host/processes.ts';

/**
 * An agent that stands by itself, of `yard node start` or `yard up`, names itself in `nodes/<name>/daemon.json`:
 * `yard down` ends that process and no other, not one that took its pid, and not a `yard run` that serves its node.
 */
/** `daemon` is the agent itself, `supervisor` what starts it again. */
export type RecordName = 'daemon' | 'supervisor';

export function recordPath(home: string, node: string, name: RecordName = 'daemon'): string {
  return `${home}/nodes/${node}/${name}.json`;
}

export function processesOf(home: string): NodeProcesses {
  return createNodeProcesses({ directory: `${home}/shim`, launcher: 'sh' });
}

export async function writeRecord(home: string, node: string, name: RecordName = 'daemon'): Promise<void> {
  const processes = processesOf(home);
  const identity = await processes.identify(process.pid);
  processes.close();
  await writeFile(recordPath(home, node, name), `${JSON.stringify(identity)}\n`, { mode: 0o600 });
}

export async function removeRecord(home: string, node: string, name: RecordName = 'daemon'): Promise<void> {
  await rm(recordPath(home, node, name), { force: true });
}

/** The agent's process while it lives; null when there is none. */
export async function readRecord(
  home: string,
  node: string,
  processes: NodeProcesses,
  name: RecordName = 'daemon',
): Promise<ProcessIdentity | null> {
  const text = await readFile(recordPath(home, node, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  const identity = text === null ? null : readIdentity(text);
  return identity !== null && (await processes.isAlive(identity)) ? identity : null;
}

/** A record that was cut off by a crash names nobody. */
function readIdentity(text: string): ProcessIdentity | null {
  try {
    const { pid, startTicks, bootId } = JSON.parse(text) as Partial<ProcessIdentity>;
    if (typeof pid !== 'number' || typeof startTicks !== 'number' || typeof bootId !== 'string') return null;
    return { pid, startTicks, bootId };
  } catch {
    return null;
  }
}
