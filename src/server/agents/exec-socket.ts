import type { WebSocket } from 'ws';
import type { Embedded } from '../../client/embedded.ts';
import { execPlan } from '../../client/exec-plan.ts';
import { resolveJob } from '../../client/find-job.ts';
import { requireJob } from '../../client/job-handle.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { decodeExecMessage, encodeExecMessage } from '../../client/remote/agent/exec-message.ts';
import { type BesideRun, type ExecPeer, runBeside } from '../../client/remote/agent/run-beside.ts';
import type { StreamEnd } from '../../client/remote/agent/streams.ts';
import { oneTask } from '../../client/task-place.ts';
import { allow } from '../../client/visible.ts';
import { authorizeAction } from '../../core/access/authorize.ts';
import type { Job, TaskKey } from '../../core/job/job.ts';
import { type Refusal, refuse } from '../../core/refusal.ts';
import {
  decodeExecBytes,
  type ExecAnswer,
  type ExecRequest,
  encodeExecBytes,
  execRequest,
} from '../../wire/exec-protocol.ts';
import type { jobRoutes } from '../../wire/http/routes-jobs.ts';
import { refusalOf } from '../http-refusal.ts';
import type { ServerParts } from '../server-parts.ts';
import type { AskedSocket } from '../sockets.ts';
import { whyNoLonger } from '../who-asks.ts';

type Start = Extract<ExecRequest, { kind: 'start' }>;

const startWithinMs = 10_000;
const goodbyeMs = 1000;
/** Pieces of input that are handed on; with their heads they are one message. */
const pieceBytes = 32 * 1024;
const mostWaitingBytes = 256 * 1024;

/** A command beside a task: who may is known before anything is asked of the node, and each side ends the other. */
export async function serveExec(asked: AskedSocket<typeof jobRoutes.execJob>): Promise<void> {
  const { embedded, params, query, server, signal } = asked;
  const { id, part } = await resolveJob(embedded, params.id);
  const reference = { id, part: query.part ?? part };
  await embedded.plane.catchUp();
  const job = await requireJob(embedded, id);
  allow(embedded, 'exec', job);
  const { key, task } = oneTask(job, reference.part);
  const socket = await asked.accept();
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  signal.addEventListener('abort', () => socket.close(1001, 'the server stops'), { once: true });
  const forget = whenForbidden(asked, job, (refusal) => {
    refuseIn(socket, refusal);
    socket.close(1000);
    // Whoever may not go on is not waited for, so that they cannot keep the command by never answering.
    embedded.host.timers.after(goodbyeMs, () => socket.terminate());
  });
  try {
    const start = await readStart(socket, server);
    const isElsewhere = embedded.plane.state.nodes.get(task.node)?.leased === true;
    if (isElsewhere) relay({ server, socket, key, node: task.node, start });
    else await runHere(embedded, { socket, reference, start });
  } catch (error) {
    const refusal = refusalOf(error);
    if (refusal === null) throw error;
    refuseIn(socket, refusal);
    socket.close(1000);
  }
  await closed;
  forget();
}

/** Tells when they may not go on: the token was revoked or has expired, or the role is not theirs any more. */
function whenForbidden(
  { actor, server }: AskedSocket<typeof jobRoutes.execJob>,
  job: Job,
  tell: (refusal: Refusal) => void,
): () => void {
  const { host, plane } = server.embedded;
  const work = { ...job, what: `job ${job.id}` };
  const look = (): void => {
    const over = refusalOf(whyNoLonger(server, actor)) ?? authorizeAction(plane.state, actor, 'exec', work);
    if (over === null) cancel = host.timers.after(server.settings.limits.keepAliveMs, look);
    else tell(over);
  };
  let cancel = host.timers.after(server.settings.limits.keepAliveMs, look);
  return () => cancel();
}

function refuseIn(socket: WebSocket, { code, message, hint, path }: Refusal): void {
  say(socket, { kind: 'refused', error: { code, message, hint, path } });
}

function readStart(socket: WebSocket, { embedded }: ServerParts): Promise<Start> {
  return new Promise((resolve, reject) => {
    const cancel = embedded.host.timers.after(startWithinMs, () => reject(badStart('nothing came')));
    socket.once('message', (data, isBinary) => {
      cancel();
      const request = isBinary ? null : readRequest((data as Buffer).toString());
      // What follows is for whoever runs the command, who is asked first.
      socket.pause();
      if (request?.kind === 'start') resolve(request);
      else reject(badStart('something else came first'));
    });
    socket.once('close', () => {
      cancel();
      reject(badStart('the connection broke off'));
    });
  });
}

function badStart(found: string): RefusalError {
  return new RefusalError(refuse('BAD_REQUEST', `a command begins with a message of kind start: ${found}`));
}

interface Relayed {
  readonly server: ServerParts;
  readonly socket: WebSocket;
  readonly key: TaskKey;
  readonly node: string;
  readonly start: Start;
}

/** Hands everything on between the client's socket and a stream of the node's agent, no faster than either takes it. */
function relay({ server, socket, key, node, start }: Relayed): void {
  const end = server.agents.openStream(node, JSON.stringify({ kind: 'exec', key, start }), (stream) => ({
    onData(bytes) {
      const message = decodeExecMessage(bytes);
      const taken = (): void => stream.taken(bytes.length);
      if (message === null || socket.readyState !== socket.OPEN) return taken();
      return socket.send(message.kind === 'text' ? message.text : message.bytes, taken);
    },
    onEnd: () => socket.close(1000),
    onReset(reason) {
      const error = { code: 'UNREACHABLE', message: `node ${node}: ${reason}`, hint: null, path: null };
      say(socket, { kind: 'refused', error });
      socket.close(1000);
    },
    onDrained: () => socket.resume(),
  }));
  if (end === null) {
    throw new RefusalError(
      refuse('UNREACHABLE', `node ${node} is not connected to the server`, { hint: `yard nodes ${node}` }),
    );
  }
  hear(socket, {
    text: (text) => end.send(encodeExecMessage({ kind: 'text', text })),
    bytes(bytes) {
      end.send(encodeExecMessage({ kind: 'bytes', bytes }));
      if (end.waitingBytes > mostWaitingBytes) socket.pause();
    },
    closed: () => hangUp(end),
  });
}

function hangUp(end: StreamEnd): void {
  end.reset('whoever asked for the command is gone');
}

/** On a node of this very home. */
async function runHere(
  embedded: Embedded,
  { socket, reference, start }: { socket: WebSocket; reference: { id: string; part: number | null }; start: Start },
): Promise<void> {
  const plan = await execPlan(embedded, reference);
  const beside = {
    ...plan,
    openSecrets: async () => ({ kind: 'opened', env: await plan.openSecrets() }) as const,
  };
  let run: BesideRun | null = null;
  const peer: ExecPeer = {
    answer: (answer) => say(socket, answer),
    output: (stream, bytes) =>
      socket.send(encodeExecBytes(stream, bytes), () => {
        if (socket.bufferedAmount < mostWaitingBytes) run?.resume();
      }),
    isFull: () => socket.bufferedAmount > mostWaitingBytes,
    end: () => socket.close(1000),
  };
  run = await runBeside({ host: embedded.host, node: plan.node, beside }, start, peer);
  const running = run;
  hear(socket, {
    text(text) {
      const request = readRequest(text);
      if (request !== null) running.request(request);
    },
    bytes(frame) {
      const piece = decodeExecBytes(frame);
      if (piece?.stream !== 'stdin') return;
      socket.pause();
      running.input(piece.bytes, () => socket.resume());
      if (piece.bytes.length === 0) socket.resume();
    },
    closed: () => running.hangUp(),
  });
}

/** What the client says from now on; of text only what is of the protocol, of input no more than fits one message. */
function hear(
  socket: WebSocket,
  on: { text(text: string): void; bytes(frame: Uint8Array): void; closed(): void },
): void {
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer;
    if (!isBinary) {
      if (readRequest(bytes.toString()) !== null) on.text(bytes.toString());
      return;
    }
    const found = decodeExecBytes(bytes);
    if (found === null) return;
    if (found.bytes.length === 0) return on.bytes(bytes);
    for (let at = 0; at < found.bytes.length; at += pieceBytes) {
      on.bytes(encodeExecBytes(found.stream, found.bytes.subarray(at, at + pieceBytes)));
    }
  });
  if (socket.readyState !== socket.OPEN) on.closed();
  else socket.once('close', () => on.closed());
  socket.resume();
}

function say(socket: WebSocket, answer: ExecAnswer): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(answer));
}

function readRequest(text: string): ExecRequest | null {
  try {
    const read = execRequest.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}
