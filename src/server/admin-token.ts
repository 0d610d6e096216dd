import type { Embedded } from '../client/embedded.ts';
import { execute } from '../client/embedded.ts';
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
  const id = Buffer.from(host.chance.bytes(8)).toString('hex');
  const secret = Buffer.from(host.chance.bytes(32)).toString('base64url');
  const token = `yt_${id}_${secret}`;
  await host.files.makeDirectory(`${home}/server`, { mode: 0o700 });
  await execute(embedded, {
    kind: 'CreateToken',
    token: id,
    hash: host.digests.sha256(new TextEncoder().encode(secret)),
    user: adminUser,
    lifetimeMs: null,
    project: null,
    admin: true,
    by: embedded.actor.name,
  });
  await host.files.writeAtomic(path, new TextEncoder().encode(`${token}\n`), { mode: 0o600, sync: true });
  return { token, isNew: true };
}
