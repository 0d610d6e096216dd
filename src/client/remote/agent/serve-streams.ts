import type { Agent } from '../../../agent/agent.ts';
import { attemptOf } from '../../../agent/attempt.ts';
import { type Beside, planBeside } from '../../../agent/beside.ts';
import { readMaterialised } from '../../../agent/materialised.ts';
import type { Sealing } from '../../../agent/secrets/sealing.ts';
import type { BlobStore } from '../../../blobs/blob-store.ts';
import { collectOutputs } from '../../../blobs/collect.ts';
import { encodeManifest } from '../../../blobs/manifest-codec.ts';
import type { Order } from '../../../core/node/orders.ts';
import type { Host } from '../../../host/host.ts';
import { type LiveOutputs, type StreamPurpose, streamPurpose } from '../../../wire/agent-streams.ts';
import { decodeExecBytes, encodeExecBytes, execRequest } from '../../../wire/exec-protocol.ts';
import { decodeExecMessage, encodeExecMessage } from './exec-message.ts';
import { type BesideRun, type ExecPeer, refuse, runBeside } from './run-beside.ts';
import type { OnOpen, StreamEnd, StreamListener } from './streams.ts';

export interface ServedNode {
  readonly host: Host;
  readonly directory: string;
  readonly node: string;
  readonly store: BlobStore;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly sealing: Sealing;
  /** The agent, once it has joined. */
  readonly agent: () => Agent | null;
}

const collectWithinMs = 10 * 60_000;
/** A piece of output with its head is one message. */
const outputPieceBytes = 32 * 1024;
const mostWaitingBytes = 256 * 1024;

/** What this node does for the server over streams. */
export function serveStreams(node: ServedNode): OnOpen {
  return (text, stream) => {
    const purpose = readPurpose(text);
    const order = purpose === null ? null : (node.agent()?.orderOf(purpose.key) ?? null);
    switch (purpose?.kind) {
      case 'exec':
        return serveExec(node, { order, start: purpose.start, stream });
      case 'outputs':
        return serveOutputs(node, order, stream);
      case undefined:
        return null;
    }
  };
}

function readPurpose(text: string): StreamPurpose | null {
  try {
    const read = streamPurpose.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

interface Exec {
  readonly order: Order | null;
  readonly start: Extract<StreamPurpose, { kind: 'exec' }>['start'];
  readonly stream: StreamEnd;
}

function serveExec(node: ServedNode, { order, start, stream }: Exec): StreamListener {
  const peer = peerOf(stream);
  // What comes before the command runs waits for it.
  const begun: Promise<BesideRun | null> = begin(node, { order, start, peer }).catch((error: unknown) => {
    refuse(peer, `the command could not be started: ${error instanceof Error ? error.message : String(error)}`, null);
    return null;
  });
  const withRun = (use: (run: BesideRun) => void): void => {
    void begun.then((run) => {
      if (run !== null) use(run);
    });
  };
  return {
    onData(bytes) {
      const message = decodeExecMessage(bytes);
      const taken = (): void => stream.taken(bytes.length);
      if (message?.kind === 'bytes') {
        const piece = decodeExecBytes(message.bytes);
        if (piece?.stream === 'stdin') return withRun((run) => run.input(piece.bytes, taken));
      }
      if (message?.kind === 'text') {
        const request = execRequest.safeParse(parse(message.text));
        if (request.success) withRun((run) => run.request(request.data));
      }
      return taken();
    },
    onEnd() {},
    onReset: () => withRun((run) => run.hangUp()),
    onDrained: () => withRun((run) => run.resume()),
  };
}

async function begin(
  node: ServedNode,
  { order, start, peer }: { order: Order | null; start: Exec['start']; peer: ExecPeer },
): Promise<BesideRun | null> {
  const beside = order === null ? null : await planOn(node, order);
  if (beside !== null) return runBeside({ host: node.host, node: node.node, beside }, start, peer);
  refuse(peer, 'the task does not run: there is nothing to run a command beside', null);
  return null;
}

function planOn({ host, directory, node, environment, sealing }: ServedNode, order: Order): Promise<Beside | null> {
  return planBeside({ host, directory, node, environment, sealing: () => Promise.resolve(sealing) }, order);
}

function peerOf(stream: StreamEnd): ExecPeer {
  return {
    answer: (answer) => stream.send(encodeExecMessage({ kind: 'text', text: JSON.stringify(answer) })),
    output(name, bytes) {
      for (let at = 0; at < bytes.length; at += outputPieceBytes) {
        const piece = encodeExecBytes(name, bytes.subarray(at, at + outputPieceBytes));
        stream.send(encodeExecMessage({ kind: 'bytes', bytes: piece }));
      }
    },
    isFull: () => stream.waitingBytes > mostWaitingBytes,
    end: () => stream.end(),
  };
}

function serveOutputs(node: ServedNode, order: Order | null, stream: StreamEnd): StreamListener {
  const answer = order === null ? Promise.resolve(null) : collectLive(node, order);
  answer.then(
    (found) => {
      if (found === null) return stream.reset('the task does not run on this node any more');
      const text = new TextEncoder().encode(JSON.stringify(found));
      for (let at = 0; at < text.length; at += outputPieceBytes) stream.send(text.subarray(at, at + outputPieceBytes));
      return stream.end();
    },
    (error: unknown) => stream.reset(error instanceof Error ? error.message : String(error)),
  );
  return { onData: (bytes) => stream.taken(bytes.length), onEnd() {}, onReset() {}, onDrained() {} };
}

async function collectLive({ host, directory, node, store }: ServedNode, order: Order): Promise<LiveOutputs> {
  const attempt = attemptOf(directory, node, order.key);
  const materialised = await readMaterialised(host.files, attempt);
  const declared = order.task.spec.outputs;
  const { workdir } = attempt;
  const found = await collectOutputs({ workdir, declared, materialised, store, host, deadlineMs: collectWithinMs });
  const outputs = found.outputs.map(({ path, state, sizeBytes, why }) => ({
    path,
    state,
    sizeBytes: sizeBytes ?? null,
    why: why ?? null,
  }));
  const isEmpty = found.manifest.entries.length === 0;
  return { outputs, manifest: isEmpty ? null : await store.put(encodeManifest(found.manifest)) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
