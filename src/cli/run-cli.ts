import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { RunyardClient } from '../client/api.ts';
import { RefusalError } from '../client/refusal-error.ts';
import type { ServerAddress } from '../client/remote/outgoing.ts';
import { version } from '../client/version.ts';
import { refuse } from '../core/refusal.ts';
import { chooseServer } from './choose-server.ts';
import { type Context, flagOption, type Options, textOption } from './context.ts';
import { failed, notItsOwn } from './exit-code.ts';
import { chooseOutput } from './output/choose.ts';
import { createNodeStreams, drained } from './output/node-streams.ts';
import type { Output } from './output/output.ts';
import { meansAttached, parseArguments } from './program.ts';
import { codeOfError, reportOf } from './report-error.ts';
import { decodeText } from './request/decode-text.ts';

/**
 * One command of `yard`, from its arguments to its exit code. `program` is the file that runs, with its links followed:
 * what it starts lies beside it, and not beside a link in some folder of the PATH.
 */
export async function runCli(argv: readonly string[], program: string): Promise<number> {
  const reader: Reader = { attached: meansAttached(argv), lost: false };
  let output = outputFor({ json: argv.includes('--json') }, reader);
  let home = homeOf({});
  try {
    const parsed = await parseArguments(argv, version);
    if (parsed.kind === 'text') {
      process.stdout.write(parsed.text);
      return 0;
    }
    const { definition, invocation } = parsed;
    reader.attached = definition.attached === true;
    home = homeOf(invocation.options);
    output = outputFor(invocation.options, reader);
    const session = createSession({ output, home, options: invocation.options, program });
    try {
      const { execute } = await definition.load();
      const code = await execute(session.context, invocation);
      return code === 0 && reader.lost ? notItsOwn : code;
    } finally {
      await session.close();
    }
  } catch (error) {
    output.error(reportOf(error, home));
    return codeOfError(error, reader.attached);
  }
}

/** What is known of whoever reads what this command prints. */
interface Reader {
  /** The command holds a job: it goes on to its end, whoever reads. */
  attached: boolean;
  /** Something that was printed is lost. */
  lost: boolean;
}

function outputFor(options: Options, reader: Reader): Output {
  const streams = createNodeStreams({
    color: options.color !== false,
    // `yard logs | head`: there is nothing left to do.
    onClosed() {
      if (!reader.attached) process.exit(0);
    },
    onLost(stream, error) {
      if (stream === 'stdout' && !reader.lost) process.stderr.write(`error: stdout takes no more: ${error.message}\n`);
      reader.lost = true;
      if (!reader.attached) process.exit(failed);
    },
  });
  return chooseOutput(streams, { json: flagOption(options, 'json'), quiet: flagOption(options, 'quiet') });
}

function homeOf(options: Options): string {
  return resolve(textOption(options, 'home') ?? process.env.RUNYARD_HOME ?? resolve(homedir(), '.runyard'));
}

/** The client is opened at the first use, and closed once. */
function createSession(given: {
  readonly output: Output;
  readonly home: string;
  readonly options: Options;
  readonly program: string;
}): { readonly context: Context; close(): Promise<void> } {
  const { output, home, options, program } = given;
  let opened: Promise<RunyardClient> | null = null;
  const context: Context = {
    output,
    home,
    drained,
    get cwd() {
      return currentDirectory();
    },
    env: process.env,
    self: [process.execPath, program],
    client: () => (opened ??= openClient(context)),
    server: () => serverOf(home, options),
    readStdin,
    ...(process.stdin.isTTY ? { ask: askAtTerminal, secretInput: readAtTerminal } : {}),
    onSignal(signal, callback) {
      process.on(signal, callback);
      return () => process.off(signal, callback);
    },
    endBy: (signal) => void process.kill(process.pid, signal),
  };
  return { context, close: async () => (await opened?.catch(() => null))?.close() };
}

/** Asked for only by what needs it: from a directory that was removed one can still look at jobs and stop them. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    const message = 'the current directory no longer exists, and this command starts from it';
    throw new RefusalError(refuse('NOT_FOUND', message, { hint: 'cd to a directory that exists' }));
  }
}

function serverOf(home: string, options: Options): ServerAddress | null {
  const [server, context] = [textOption(options, 'server'), textOption(options, 'context')];
  return chooseServer({ server, context, home, env: process.env });
}

async function openClient({ home, output, server }: Context): Promise<RunyardClient> {
  const address = server();
  return address === null ? openEmbedded(home, output) : openRemote(home, output, address);
}

/** A log that can no longer be followed leaves nothing to wait for. */
async function openEmbedded(home: string, output: Output): Promise<RunyardClient> {
  const { Runyard } = await import('../client/runyard.ts');
  const onFault = (error: unknown): void => {
    output.error(reportOf(error, home));
    process.exit(failed);
  };
  return Runyard.open({ home, onFault });
}

async function openRemote(home: string, output: Output, address: ServerAddress): Promise<RunyardClient> {
  const { connectRemote } = await import('../client/remote/connect.ts');
  return connectRemote({ address, home, onNote: (message) => output.note(message) });
}

async function askAtTerminal(question: string): Promise<string> {
  const { createInterface } = await import('node:readline/promises');
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  return lines.question(question).finally(() => lines.close());
}

async function readAtTerminal(question: string): Promise<string> {
  const { askSilently } = await import('./request/ask-silently.ts');
  return askSilently(process.stdin, (text) => process.stderr.write(text), question);
}

async function readStdin(): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of process.stdin) parts.push(Buffer.from(part));
  return decodeText(Buffer.concat(parts), 'stdin');
}
