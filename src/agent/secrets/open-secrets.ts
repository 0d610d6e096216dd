import { secretVariables } from '../../core/secrets/secret.ts';
import type { TaskContext } from '../task-context.ts';
import { closed, type KeptSecret, keepSecrets, type OpenedSecrets, openKept, readKeptSecrets } from './kept-secrets.ts';
import { readNodeSecret } from './node-secrets.ts';

/**
 * The secrets of a task, opened just before its command starts, as they stand then: a value that was set meanwhile
 * reaches this start (G14). Those that are wanted as files are written first.
 */
export async function openSecrets(context: TaskContext): Promise<OpenedSecrets> {
  const wanted = secretVariables(context.order.task.spec.env);
  if (wanted.length === 0) return noSecrets;
  const { host, sealing, attempt, directory, secretFiles } = context;
  const boxes = context.boxes();
  const kept: KeptSecret[] = [];
  for (const { variable, secret, asFile } of wanted) {
    const box = boxes[secret] ?? (await readNodeSecret(host.files, directory, secret));
    if (box === null) return closed(secret, 'is not on this node any more');
    if (!asFile) {
      kept.push({ variable, secret, box, path: null });
      continue;
    }
    const value = (await sealing?.open(box)) ?? null;
    if (value === null) return closed(secret, 'cannot be opened on this node');
    kept.push({ variable, secret, box, path: await secretFiles.write(attempt.name, secret, value) });
  }
  await keepSecrets(host.files, attempt, kept);
  return openKept(sealing, kept);
}

/** What the task's own command was started with, for what runs beside it. Values that cannot be opened are left out. */
export async function secretsOfStart({ host, sealing, attempt, order }: TaskContext): Promise<Record<string, string>> {
  if (secretVariables(order.task.spec.env).length === 0) return {};
  const opened = await openKept(sealing, await readKeptSecrets(host.files, attempt));
  return opened.kind === 'opened' ? { ...opened.env } : {};
}

const noSecrets: OpenedSecrets = { kind: 'opened', env: {} };
