import { constants } from 'node:os';
import type { WebSocket } from 'ws';
import { refuse } from '../../core/refusal.ts';
import {
  decodeExecBytes,
  type ExecAnswer,
  type ExecRequest,
  encodeExecBytes,
  execAnswer,
} from '../../wire/exec-protocol.ts';
import type { ExecEnd, ExecOptions, ExecSession, ExecStreams } from '../api.ts';
import { RefusalError } from '../refusal-error.ts';
import { knownCode, parseJson } from './answers.ts';
import { ownTerminal } from './exec-terminal.ts';
import { openSocket } from './open-socket.ts';
import type { Remote } from './remote.ts';

/** So much of stdin may wait to be sent before no more is read. */
const mostWaitingBytes = 1024 * 1024;

/** Runs a command beside a task on its node, through the server. Ends when either side is gone. */
export async function runExec(
  remote: Remote,
  reference: { readonly id: string; readonly part: number | null },
  { command, streams }: ExecOptions,
): Promise<ExecSession> {
  const terminal = streams === undefined ? ownTerminal() : null;
  const socket = await openSocket(remote.http, 'execJob', {
    params: { id: reference.id },
    query: reference.part === null ? {} : { part: reference.part },
  });
  const { stdin, stdout, stderr } = streams ?? { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr };
  const tell = (request: ExecRequest): void => socket.send(JSON.stringify(request));
  const { started, finish } = hear(socket, { stdout, stderr });
  tell({ kind: 'start', command: [...command], terminal: terminal?.size() ?? null });
  const { node, hasTerminal, ended } = await started;
  const release = hasTerminal ? (terminal?.take((size) => tell({ kind: 'resize', ...size })) ?? null) : null;
  const stopReading = stdin === null ? endStdin(socket) : sendStdin(socket, stdin);
  return {
    node,
    withoutTerminal: terminal !== null && !hasTerminal ? `${node} cannot make a terminal: the command has pipes` : null,
    interrupt: () => tell({ kind: 'signal', signal: 'SIGINT' }),
    terminate: () => tell({ kind: 'signal', signal: 'SIGTERM' }),
    async hangUp() {
      // The node hangs up on the command when it sees that nobody is there any more.
      finish({ exitCode: null, signal: constants.signals.SIGHUP, problem: null });
      socket.close();
    },
    ended: ended.finally(() => {
      stopReading();
      release?.();
      socket.close();
    }),
  };
}

interface Started {
  readonly node: string;
  readonly hasTerminal: boolean;
  readonly ended: Promise<ExecEnd>;
}

/** Resolves when it runs; from then on what it prints is passed on, no faster than it is taken. */
function hear(
  socket: WebSocket,
  out: Pick<ExecStreams, 'stdout' | 'stderr'>,
): { readonly started: Promise<Started>; readonly finish: (end: ExecEnd) => void } {
  let finish = (_end: ExecEnd): void => {};
  let fail = (_error: Error): void => {};
  const ended = new Promise<ExecEnd>((done, failed) => {
    finish = done;
    fail = failed;
  });
  // Whoever did not get the session learns of it by the other promise.
  ended.catch(() => {});
  const started = new Promise<Started>((resolve, reject) => {
    const lose = (error: Error): void => {
      reject(error);
      fail(error);
    };
    socket.on('message', (data, isBinary) => {
      const bytes = data as Buffer;
      if (isBinary) return passOn(socket, bytes, out);
      const answer = readAnswer(bytes.toString());
      if (answer === null) return lose(cut('what it said was not understood'));
      if (answer.kind === 'started') resolve({ node: answer.node, hasTerminal: answer.terminal, ended });
      else if (answer.kind === 'refused') lose(refusalOf(answer));
      else finish({ exitCode: answer.exitCode, signal: answer.signal, problem: null });
    });
    socket.on('error', (error) => lose(cut(error.message)));
    socket.on('close', () => lose(cut('the connection was closed')));
  });
  return { started, finish };
}

function passOn(
  socket: WebSocket,
  frame: Uint8Array,
  { stdout, stderr }: Pick<ExecStreams, 'stdout' | 'stderr'>,
): void {
  const found = decodeExecBytes(frame);
  if (found === null || found.bytes.length === 0) return;
  const target = found.stream === 'stderr' ? stderr : stdout;
  if (target.write(found.bytes)) return;
  socket.pause();
  target.once('drain', () => socket.resume());
}

/** Returns how to let go of stdin, so that the process can end. */
function sendStdin(socket: WebSocket, stdin: NonNullable<ExecStreams['stdin']>): () => void {
  const onData = (bytes: Buffer): void => {
    socket.send(encodeExecBytes('stdin', bytes), () => {
      if (socket.bufferedAmount < mostWaitingBytes) stdin.resume();
    });
    if (socket.bufferedAmount >= mostWaitingBytes) stdin.pause();
  };
  const onEnd = (): void => void endStdin(socket);
  stdin.on('data', onData);
  stdin.once('end', onEnd);
  return () => {
    stdin.off('data', onData);
    stdin.off('end', onEnd);
    stdin.pause();
    if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref();
  };
}

function endStdin(socket: WebSocket): () => void {
  if (socket.readyState === socket.OPEN) socket.send(encodeExecBytes('stdin', new Uint8Array()));
  return () => {};
}

function readAnswer(text: string): ExecAnswer | null {
  const read = execAnswer.safeParse(parseJson(text));
  return read.success ? read.data : null;
}

function refusalOf({ error }: Extract<ExecAnswer, { kind: 'refused' }>): RefusalError {
  const { code, message, hint, path } = error;
  return new RefusalError(refuse(knownCode(code, 409), message, { hint, path }));
}

function cut(why: string): RefusalError {
  const hint = 'what ran beside the job has been ended with it';
  return new RefusalError(refuse('UNREACHABLE', `the connection to the command was lost: ${why}`, { hint }));
}
