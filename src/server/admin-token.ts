import type { Embedded } from '../client/embedded.ts';
import { execute } from '../client/embedded.ts';
import { drawToken } from '../control/tokens.ts';
import type { Host } from '../host/host.ts';
import { refuseReadableByOthers } from './certificate.ts';

/** The user that the token of the first start belongs to. */
const adminUser = 'admin';

/**
 * The administrator's token: drawn at the first start, kept in a file that only the server's own user may read. Behind
 * it stands the fingerprint to trust, so that whoever signs in with the file has nothing to compare; null for a
 * certificate that is trusted anyway. One that has changed is written down again.
 */
export async function firstAdminToken(
  embedded: Embedded,
  pin: string | null,
): Promise<{ token: string; isNew: boolean }> {
  const { home, host } = embedded;
  const path = `${home}/server/admin.token`;
  const kept = await host.files.read(path);
  if (kept !== null) {
    await refuseReadableByOthers(host, path);
    const [token = ''] = new TextDecoder().decode(kept).trim().split('@');
    if (new TextDecoder().decode(kept) !== textOf(token, pin)) await keep(host, path, textOf(token, pin));
    return { token, isNew: false };
  }
  const { id, text: token, hash } = drawToken('user', host.chance, host.digests);
  await host.files.makeDirectory(`${home}/server`, { mode: 0o700 });
  await execute(embedded, {
    kind: 'CreateToken',
    token: id,
    hash,
    user: adminUser,
    lifetimeMs: null,
    project: null,
    admin: true,
    by: embedded.actor.name,
  });
  await keep(host, path, textOf(token, pin));
  return { token, isNew: true };
}

function textOf(token: string, pin: string | null): string {
  return `${token}${pin === null ? '' : `@${pin}`}\n`;
}

function keep({ files }: Host, path: string, text: string): Promise<void> {
  return files.writeAtomic(path, new TextEncoder().encode(text), { mode: 0o600, sync: true });
}
