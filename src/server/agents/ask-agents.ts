import type { AgentsElsewhere } from '../../client/embedded.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { refuse } from '../../core/refusal.ts';
import { type LiveOutputs, liveOutputs } from '../../wire/agent-streams.ts';
import type { AgentHub } from './agent-hub.ts';

const longestAnswerBytes = 16 * 1024 * 1024;

/** What the client of this server asks of nodes whose disks are elsewhere. */
export function askAgents(hub: AgentHub): AgentsElsewhere {
  return {
    collect: (node, key) =>
      new Promise((resolve, reject) => {
        const parts: Uint8Array[] = [];
        let sizeBytes = 0;
        const opened = hub.openStream(node, JSON.stringify({ kind: 'outputs', key }), (stream) => ({
          onData(bytes) {
            parts.push(bytes.slice());
            sizeBytes += bytes.length;
            if (sizeBytes > longestAnswerBytes) stream.reset('too much');
            else stream.taken(bytes.length);
          },
          onEnd() {
            stream.end();
            const found = readAnswer(Buffer.concat(parts).toString());
            if (found === null) reject(unreachable(node, 'what its agent answered was not understood'));
            else resolve(found);
          },
          onReset: (reason) => reject(unreachable(node, reason)),
          onDrained() {},
        }));
        if (opened === null) reject(unreachable(node, 'it is not connected to the server'));
      }),
  };
}

function readAnswer(text: string): LiveOutputs | null {
  try {
    const read = liveOutputs.safeParse(JSON.parse(text));
    return read.success ? read.data : null;
  } catch {
    return null;
  }
}

function unreachable(node: string, why: string): RefusalError {
  const hint = 'what it has collected by its end is brought home all the same';
  return new RefusalError(refuse('UNREACHABLE', `node ${node} cannot be asked: ${why}`, { hint }));
}
