import type { Files } from '../../host/files.ts';
import type { Attempt } from '../attempt.ts';
import type { Sealing } from './sealing.ts';

/** What one variable of a task got at its latest start: the sealed box of a secret, and the file where it has one. */
export interface KeptSecret {
  readonly variable: string;
  readonly secret: string;
  readonly box: string;
  /** The file that holds the value; null where the variable itself does. */
  readonly path: string | null;
}

export type OpenedSecrets =
  | { readonly kind: 'opened'; readonly env: Readonly<Record<string, string>> }
  /** `message` names the secret and says why it has no value here. */
  | { readonly kind: 'closed'; readonly message: string };

/**
 * Kept sealed beside the attempt's records: what runs beside a task (probes, `yard exec`) sees the values that the task
 * itself was started with, whichever agent started it and whatever was set since.
 */
export async function keepSecrets(files: Files, attempt: Attempt, kept: readonly KeptSecret[]): Promise<void> {
  await files.writeAtomic(keptPath(attempt), new TextEncoder().encode(JSON.stringify(kept)), { mode: 0o600 });
}

export async function readKeptSecrets(files: Files, attempt: Attempt): Promise<readonly KeptSecret[]> {
  const bytes = await files.read(keptPath(attempt));
  return bytes === null ? [] : (JSON.parse(new TextDecoder().decode(bytes)) as readonly KeptSecret[]);
}

/** Once nothing of the task is left. */
export async function forgetSecrets(files: Files, attempt: Attempt): Promise<void> {
  await files.remove(keptPath(attempt));
}

/** The variables as they are for a process; what is opened here must not be written anywhere. */
export async function openKept(sealing: Sealing | null, kept: readonly KeptSecret[]): Promise<OpenedSecrets> {
  const env: Record<string, string> = {};
  for (const { variable, secret, box, path } of kept) {
    const value = path ?? (await openText(sealing, secret, box));
    if (typeof value !== 'string') return value;
    env[variable] = value;
  }
  return { kind: 'opened', env };
}

export function closed(secret: string, why: string): Extract<OpenedSecrets, { kind: 'closed' }> {
  return { kind: 'closed', message: `secret ${JSON.stringify(secret)} ${why}` };
}

async function openText(
  sealing: Sealing | null,
  secret: string,
  box: string,
): Promise<string | Extract<OpenedSecrets, { kind: 'closed' }>> {
  const value = (await sealing?.open(box)) ?? null;
  if (value === null) return closed(secret, 'cannot be opened on this node');
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(value);
    return text.includes('\0') ? closed(secret, 'holds a NUL byte: give it as a file (file = true)') : text;
  } catch {
    return closed(secret, 'is no text: give it as a file (file = true)');
  }
}

function keptPath({ directory }: Attempt): string {
  return `${directory}/secrets`;
}
