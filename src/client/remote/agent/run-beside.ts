import { constants } from 'node:os';
import type { Beside } from '../../../agent/beside.ts';
import type { Host } from '../../../host/host.ts';
import type { ExecAnswer, ExecRequest } from '../../../wire/exec-protocol.ts';
import { hangUpOn } from '../../hang-up.ts';
import { type Running, spawnPiped, spawnTerminal } from './spawn-beside.ts';

/** Whoever asked for the command, near or far. */
export interface ExecPeer {
  answer(answer: ExecAnswer): void;
  output(stream: 'stdout' | 'stderr', bytes: Uint8Array): void;
  /** More than it takes is waiting: nothing more should come until `resume` of the command is called. */
  isFull(): boolean;
  /** Nothing more comes. */
  end(): void;
}

/** A command that runs for a peer. */
export interface BesideRun {
  request(request: ExecRequest): void;
  /** Bytes for it; `taken` is called when it has room for more. None at all: its input ends. */
  input(bytes: Uint8Array, taken: () => void): void;
  /** The peer takes more. */
  resume(): void;
  /** The peer is gone: what runs for nobody is ended. */
  hangUp(): void;
}

export interface RunPlace {
  readonly host: Host;
  readonly node: string;
  readonly beside: Beside;
}

type Start = Extract<ExecRequest, { kind: 'start' }>;

/** What was started in the background may hold the pipes; the command itself has ended. */
const lingerMs = 500;
const notFound = 127;
const notExecutable = 126;

/** Starts a command beside a task, with a terminal where one is wanted and can be had, and tells the peer what comes of it. */
export async function runBeside(place: RunPlace, start: Start, peer: ExecPeer): Promise<BesideRun> {
  const { host, node, beside } = place;
  const opened = await beside.openSecrets();
  if (opened.kind === 'closed') {
    refuse(peer, opened.message, 'set it again, then run the job again');
    return deaf;
  }
  const env = { ...beside.env, ...opened.env };
  const shell = beside.env.SHELL ?? process.env.SHELL ?? 'sh';
  const [program = shell, ...args] = start.command;
  const what = { program, args, cwd: beside.workdir, env };
  const terminal = start.terminal === null ? null : await spawnTerminal(what, start.terminal);
  const running = terminal ?? spawnPiped(what);
  peer.answer({ kind: 'started', node, terminal: terminal !== null });
  follow(running, program, peer);
  return {
    request(request) {
      if (request.kind === 'resize') running.resize(request);
      else if (request.kind === 'signal') running.signal(request.signal);
    },
    input: (bytes, taken) => running.input(bytes, taken),
    resume: () => running.resume(),
    hangUp() {
      const pid = running.pid();
      if (pid !== null) void hangUpOn(host, pid);
    },
  };
}

function follow(running: Running, program: string, peer: ExecPeer): void {
  let isOver = false;
  const finish = (exitCode: number | null, signal: number | null): void => {
    if (isOver) return;
    isOver = true;
    peer.answer({ kind: 'exit', exitCode, signal });
    peer.end();
  };
  running.listen({
    output(stream, bytes) {
      if (isOver) return;
      peer.output(stream, bytes);
      if (peer.isFull()) running.pause();
    },
    failed(error) {
      const [code, why] =
        error.code === 'ENOENT'
          ? [notFound, `there is no ${program} on the PATH of the job`]
          : [notExecutable, `${program} cannot be executed: ${error.message}`];
      peer.output('stderr', new TextEncoder().encode(`error: ${why}\n`));
      finish(code, null);
    },
    exited(exitCode, signal) {
      setTimeout(() => finish(exitCode, signal), lingerMs).unref();
    },
    closed: finish,
  });
}

export function refuse(peer: ExecPeer, message: string, hint: string | null): void {
  peer.answer({ kind: 'refused', error: { code: 'WRONG_STATE', message, hint, path: null } });
  peer.end();
}

const deaf: BesideRun = { request() {}, input: (_bytes, taken) => taken(), resume() {}, hangUp() {} };

/** As the system counts them. */
export function signalNumber(name: NodeJS.Signals | null): number | null {
  return name === null ? null : constants.signals[name];
}
