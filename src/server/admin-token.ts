import type { Embedded } from '../client/embedded.ts';
import { execute } from '../client/embedded.ts';
import { drawToken } from '../control/tokens.ts';
import { refuseReadableByOthers } from './certificate.ts';

/** The user that the token of the first start belongs to. */
const adminUser = 'admin';

/** The administrator's token: drawn at the first start, kept in a file that only the server's own user may read. */
export async function firstAdminToken(embedded: Embedded): Promise<{ token: string; isNew: boolean }> {
  const { home, host } = embedded;
  const path = `${home}/server/admin.token`;
  const kept = await host.files.read(path);
  if (kept !== null) {
    await refuseReadableByOthers(host, path);
    return { token: new TextDecoder().decode(kept).trim(), isNew: false };
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
  await host.files.writeAtomic(path, new TextEncoder().encode(`${token}\n`), { mode: 0o600, sync: true });
  return { token, isNew: true };
}
