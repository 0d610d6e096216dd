import { createHash, X509Certificate } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import type { Host } from '../host/host.ts';
import { plainAddress } from './allowed-hosts.ts';
import { refused } from './http-refusal.ts';

/** What TLS needs, and how clients know this server again. */
export interface Certificate {
  /** PEM. */
  readonly cert: string;
  /** PEM. */
  readonly key: string;
  /** `sha256:` and the lower-case hex SHA-256 of the certificate. */
  readonly fingerprint: string;
  /** Names and addresses that it is made out to. */
  readonly names: readonly string[];
}

const validDays = 3650;

/** The certificate of the files given, or the server's own: made at the first start and kept, so that its fingerprint stays. */
export async function loadCertificate(
  host: Host,
  place: { home: string; files: { certPath: string; keyPath: string } | null; listenHost: string },
): Promise<Certificate> {
  const directory = `${place.home}/server`;
  const { certPath, keyPath } = place.files ?? { certPath: `${directory}/tls.crt`, keyPath: `${directory}/tls.key` };
  if (place.files === null && (await host.files.stat(certPath)) === null) {
    await makeCertificate(host, { directory, certPath, keyPath, listenHost: place.listenHost });
  }
  await refuseReadableByOthers(host, keyPath);
  const cert = await readPem(host, certPath, 'certificate');
  const key = await readPem(host, keyPath, 'key');
  const read = readCertificate(cert, certPath);
  return {
    cert,
    key,
    fingerprint: `sha256:${createHash('sha256').update(read.raw).digest('hex')}`,
    names: namesOf(read),
  };
}

async function makeCertificate(
  host: Host,
  place: { directory: string; certPath: string; keyPath: string; listenHost: string },
): Promise<void> {
  // Bundled, a CommonJS module has nothing but its default export.
  const { default: selfsigned } = await import('selfsigned');
  const now = host.clock.wallMs();
  const names = [
    ...new Set(['localhost', host.machine.hostname(), place.listenHost].filter((name) => !isAddress(name))),
  ];
  const addresses = [...new Set([...ownAddresses(), ...(isAddress(place.listenHost) ? [place.listenHost] : [])])];
  const made = await selfsigned.generate([{ name: 'commonName', value: host.machine.hostname().slice(0, 64) }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(now - 24 * 3_600_000),
    notAfterDate: new Date(now + validDays * 24 * 3_600_000),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          ...names.map((value) => ({ type: 2 as const, value })),
          ...addresses.map((ip) => ({ type: 7 as const, ip })),
        ],
      },
    ],
  });
  await host.files.makeDirectory(place.directory, { mode: 0o700 });
  // The certificate last: where it stands, its key does too.
  await host.files.writeAtomic(place.keyPath, new TextEncoder().encode(made.private), { mode: 0o600, sync: true });
  await host.files.writeAtomic(place.certPath, new TextEncoder().encode(made.cert), { mode: 0o600, sync: true });
}

function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return all.map(({ address }) => address.split('%')[0] ?? address);
}

function isAddress(name: string): boolean {
  return /^[\d.]+$|:/.test(name);
}

/** A key that others can read is theirs too [R4.26]. */
export async function refuseReadableByOthers(host: Host, path: string): Promise<void> {
  const stat = await host.files.stat(path);
  if (stat === null) throw refused('NOT_FOUND', `there is no ${path}`, { hint: 'see --tls-key and --tls-cert' });
  if ((stat.mode & 0o077) === 0) return;
  const message = `${path} has mode ${stat.mode.toString(8)}: others could read it`;
  throw refused('PRIVILEGE', message, { hint: `chmod 600 ${path}` });
}

async function readPem(host: Host, path: string, what: string): Promise<string> {
  const bytes = await host.files.read(path);
  if (bytes === null) throw refused('NOT_FOUND', `there is no ${what} ${path}`);
  return new TextDecoder().decode(bytes);
}

function readCertificate(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw refused('BAD_VALUE', `${path} holds no certificate in PEM form`);
  }
}

/** `DNS:localhost, IP Address:127.0.0.1`. */
function namesOf(certificate: X509Certificate): readonly string[] {
  const names = (certificate.subjectAltName ?? '').split(', ').flatMap((one) => {
    const found = /^(?:DNS|IP Address):(.+)$/.exec(one);
    return found?.[1] === undefined ? [] : [plainAddress(found[1].toLowerCase())];
  });
  return names;
}
