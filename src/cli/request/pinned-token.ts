import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Context } from '../context.ts';

/**
 * A token as it is handed out: with the fingerprint of the server's certificate behind it, where that is known, so that
 * whoever uses it knows the server again without being told more.
 */
export async function pinToken(context: Context, token: string): Promise<string> {
  // A server that made its own certificate has said so already.
  if (token.includes('@')) return token;
  const server = context.server();
  const fingerprint = server === null ? await fingerprintOfHome(context.home) : server.fingerprint;
  return fingerprint === null ? token : `${token}@${fingerprint}`;
}

/** Of the certificate that the server of this home made for itself; null where it made none. */
async function fingerprintOfHome(home: string): Promise<string | null> {
  const pem = await readFile(`${home}/server/tls.crt`).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (pem === null) return null;
  return `sha256:${new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase()}`;
}
