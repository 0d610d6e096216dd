import { refuse } from '../../core/refusal.ts';
import { RefusalError } from '../refusal-error.ts';
import { UntrustedError } from './pinned-agent.ts';

/** Why a server could not be asked, in words; and whether asking again may help. */
export interface NetworkFault {
  readonly error: RefusalError;
  readonly passes: boolean;
}

/** What a failed connection or a cut answer means to a person. Anything else is a fault of our own and is thrown. */
export function networkFaultOf(error: unknown, server: string): NetworkFault {
  const where = placeOf(server);
  if (error instanceof RefusalError) return { error, passes: false };
  if (error instanceof UntrustedError) return { error: untrusted(error, where), passes: false };
  const code = codeOf(error);
  if (code === null) throw error;
  if (isCertificateCode(code)) return { error: unknownSigner(error, where), passes: false };
  const known = Object.hasOwn(reasons, code) ? reasons[code] : strangeProtocol(code);
  if (known === undefined) throw error;
  const message = `${where} cannot be reached: ${known.why}`;
  return { error: new RefusalError(refuse('UNREACHABLE', message, { hint: known.hint })), passes: true };
}

/** `lab.example.org:7443`. */
export function placeOf(server: string): string {
  const { hostname, port } = new URL(server);
  return `${hostname}:${port === '' ? '443' : port}`;
}

const isItThere = 'is the server running (yard server start), and is this its address?';
const isItOpen = 'is the address right, and does a firewall let it through?';

const reasons: Readonly<Record<string, { readonly why: string; readonly hint: string }>> = {
  ECONNREFUSED: { why: 'nothing listens there', hint: isItThere },
  ECONNRESET: { why: 'the connection was cut', hint: isItThere },
  EPIPE: { why: 'the connection was cut', hint: isItThere },
  ECONNABORTED: { why: 'the connection was cut', hint: isItThere },
  ETIMEDOUT: { why: 'it does not answer', hint: isItOpen },
  EHOSTUNREACH: { why: 'there is no way to that host', hint: isItOpen },
  ENETUNREACH: { why: 'there is no way to that network', hint: isItOpen },
  EHOSTDOWN: { why: 'the host is down', hint: isItOpen },
  ENETDOWN: { why: 'the network is down', hint: isItOpen },
  EADDRNOTAVAIL: { why: 'there is no such address', hint: isItOpen },
  ENOTFOUND: { why: 'there is no host of that name', hint: 'is the name right?' },
  EAI_AGAIN: { why: 'the name service does not answer', hint: 'is this machine online?' },
  EPROTO: { why: 'what listens there does not speak TLS', hint: isItThere },
};

function strangeProtocol(code: string): { readonly why: string; readonly hint: string } | undefined {
  if (code.startsWith('HPE_')) return { why: 'what listens there does not speak HTTP', hint: isItThere };
  if (code.startsWith('ERR_SSL_')) return { why: 'what listens there does not speak TLS', hint: isItThere };
  return undefined;
}

function untrusted({ found }: UntrustedError, where: string): RefusalError {
  const message = `${where} is not the server that was trusted: it shows the certificate ${found}`;
  const hint = `if its certificate was changed on purpose: yard login https://${where} --fingerprint ${found}`;
  return new RefusalError(refuse('UNTRUSTED', message, { hint }));
}

function unknownSigner(error: unknown, where: string): RefusalError {
  const why = error instanceof Error ? error.message : String(error);
  const hint = `yard login https://${where} shows its fingerprint and pins it`;
  return new RefusalError(refuse('UNTRUSTED', `the certificate of ${where} is not trusted here: ${why}`, { hint }));
}

function isCertificateCode(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_/.test(code);
}

/** The system's code, of the cause where the error itself has none. */
function codeOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses were tried: the first says as much as the others.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return codeOf(error.cause);
}
