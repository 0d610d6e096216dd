import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { link, open, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { refuse } from '../../core/refusal.ts';
import { RefusalError } from '../refusal-error.ts';

/** An X25519 key pair, each half 32 bytes in base64. Whatever is sealed to the public half opens with both. */
export interface HomeKey {
  readonly publicKey: string;
  readonly privateKey: string;
}

/**
 * The key pair of a home, made at its first use. All nodes of the home have it in common. Without it nothing that was
 * sealed to it opens any more, so that it is on the disk before anybody learns its public half.
 */
export async function openHomeKey(home: string): Promise<HomeKey> {
  const known = await readHomeKey(home);
  if (known !== null) return known;
  await createHomeKey(home, drawKey());
  const made = await readHomeKey(home);
  if (made === null) throw new Error(`${pathOf(home)} was made and is gone`);
  return made;
}

/** Null where there is none yet; refused when others may read it [R4.26]. */
export async function readHomeKey(home: string): Promise<HomeKey | null> {
  const path = pathOf(home);
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) {
    const message = `${path} has mode ${(mode & 0o777).toString(8)}: others could read the key of every secret here`;
    throw new RefusalError(refuse('PRIVILEGE', message, { hint: `chmod 600 ${path}, then set the secrets anew` }));
  }
  const { publicKey, privateKey } = JSON.parse(text) as Partial<HomeKey>;
  if (publicKey === undefined || privateKey === undefined) throw new Error(`${path} holds no key pair`);
  return { publicKey, privateKey };
}

/** Whole or not at all, and the first of several processes wins. */
async function createHomeKey(home: string, key: HomeKey): Promise<void> {
  const beside = `${pathOf(home)}.${randomBytes(6).toString('hex')}.tmp`;
  const file = await open(beside, 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(key)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(beside, pathOf(home));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(beside, { force: true });
  }
  const directory = await open(home, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

function drawKey(): HomeKey {
  const { x, d } = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' });
  if (x === undefined || d === undefined) throw new Error('this Node.js gives no X25519 key as JWK');
  return { publicKey: toBase64(x), privateKey: toBase64(d) };
}

function toBase64(base64url: string): string {
  return Buffer.from(base64url, 'base64url').toString('base64');
}

function pathOf(home: string): string {
  return join(home, 'secrets.key');
}
