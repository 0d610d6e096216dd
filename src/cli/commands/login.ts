import { prepareHome } from '../../client/home.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { connectRemote } from '../../client/remote/connect.ts';
import { embeddedName, readContexts, writeContexts } from '../../client/remote/contexts.ts';
import { readFingerprint } from '../../client/remote/fingerprint.ts';
import { createHttp } from '../../client/remote/http.ts';
import { lookAtServer } from '../../client/remote/look-at-server.ts';
import type { ServerAddress } from '../../client/remote/outgoing.ts';
import { createRemoteHost } from '../../client/remote/remote.ts';
import { readServerUrl, readToken } from '../../client/remote/server-url.ts';
import { refuse } from '../../core/refusal.ts';
import { type Context, type Invocation, type Options, textOption } from '../context.ts';
import { readGivenFile } from '../request/read-given-file.ts';
import { UsageError } from '../usage-error.ts';

/** Signs in to a server, and makes it the one that commands are about. */
export async function execute(context: Context, { args, options }: Invocation): Promise<number> {
  const url = readServerUrl(args[0] ?? '');
  const name = readName(options) ?? new URL(url).hostname;
  const home = await prepareHome(context.home);
  const given = await readGivenToken(context, options);
  const pinned = readPinned(options) ?? given?.fingerprint ?? null;
  const fingerprint = pinned ?? (await trustServer(context, url));
  const address = { url, fingerprint, token: given?.token ?? null };
  const token = address.token ?? (await signIn(context, address));
  const client = await connectRemote({ address: { ...address, token }, home });
  const { name: user } = await client.whoAmI();
  await client.close();
  const { contexts } = readContexts(home);
  const free = contexts[name] === undefined || contexts[name].url === url || textOption(options, 'name') !== undefined;
  const kept = free ? name : new URL(url).host;
  writeContexts(home, { current: kept, contexts: { ...contexts, [kept]: { url, fingerprint, token, user } } });
  context.output.answer({ context: kept, url, user, fingerprint }, () => `${kept}  signed in as ${user}  ${url}`);
  context.output.note('commands are about this server now; back to this machine: yard contexts use embedded');
  return 0;
}

function readName(options: Options): string | null {
  const name = textOption(options, 'name');
  if (name === undefined) return null;
  if (name !== embeddedName && /^[A-Za-z0-9][\w.:-]{0,99}$/.test(name)) return name;
  throw new UsageError(`--name is ${JSON.stringify(name)}; expected letters, digits, ".", "_", ":" and "-"`);
}

function readPinned(options: Options): string | null {
  const typed = textOption(options, 'fingerprint');
  if (typed === undefined) return null;
  const fingerprint = readFingerprint(typed);
  if (fingerprint !== null) return fingerprint;
  throw new UsageError('--fingerprint is no SHA-256 of a certificate', 'yard server start prints it: sha256:…');
}

/** A file, or RUNYARD_TOKEN; never an argument, which everybody on the machine could read. */
async function readGivenToken(context: Context, options: Options): Promise<ReturnType<typeof readToken> | null> {
  const file = textOption(options, 'tokenFile');
  if (file === '-') return readToken(await context.readStdin());
  if (file !== undefined) return readToken((await readGivenFile(context, '--token-file', file)).toString('utf8'));
  const { RUNYARD_TOKEN } = context.env;
  return RUNYARD_TOKEN === undefined || RUNYARD_TOKEN === '' ? null : readToken(RUNYARD_TOKEN);
}

/** The certificate to pin; null where this machine trusts it anyway. */
async function trustServer(context: Context, url: string): Promise<string | null> {
  const { fingerprint, isTrusted } = await lookAtServer(url);
  if (isTrusted) return null;
  const question = `${url} shows a certificate that nobody known here has signed:\n  ${fingerprint}\nyard server start prints the same on the server. Trust it? [y/N] `;
  if (context.ask !== undefined && /^y(es)?$/i.test((await context.ask(question)).trim())) return fingerprint;
  const message = `the certificate of ${url} is not trusted: ${fingerprint}`;
  const hint = 'compare it with what yard server start printed, then: --fingerprint sha256:…';
  throw new RefusalError(refuse('UNTRUSTED', message, { hint }));
}

/** Without a token: at the issuer that the server names, or by a token that is typed here. */
async function signIn(context: Context, address: ServerAddress): Promise<string> {
  const host = createRemoteHost();
  const http = createHttp(address, host);
  try {
    const { oidc } = await http.call('health', {});
    if (oidc === null) return await askForToken(context, address.url);
    const { signInByDevice } = await import('../../client/remote/device-flow.ts');
    const identity = await signInByDevice(oidc, host, {
      show: ({ url, code }) => context.output.note(`open ${url}\n  and confirm the code ${code}`),
    });
    const signed = createHttp({ ...address, token: identity }, host);
    return (await signed.call('signIn', {}).finally(() => signed.close())).token;
  } finally {
    http.close();
  }
}

async function askForToken(context: Context, url: string): Promise<string> {
  if (context.secretInput !== undefined) return readToken(await context.secretInput(`token for ${url}: `)).token;
  const hint = '--token-file F, or RUNYARD_TOKEN; an administrator makes one with yard tokens create';
  throw new UsageError(`a token is needed for ${url}`, hint);
}
