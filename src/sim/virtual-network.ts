import type { HttpAnswer, Network } from '../host/network.ts';
import type { Incarnation } from './incarnation.ts';
import type { Machine } from './machine.ts';
import type { PortAnswer } from './serving.ts';

export interface NetworkOptions {
  readonly incarnation: Incarnation;
  readonly machine: Machine;
  readonly latencyMs: () => number;
}

/** Loopback of a machine: what listens on a port there says what it answers. */
export function createVirtualNetwork({ incarnation, machine, latencyMs }: NetworkOptions): Network {
  const answerOf = (port: number): PortAnswer => machine.listening.get(port)?.answer() ?? 'closed';
  return {
    isPortFree: (port) => incarnation.call(latencyMs(), () => machine.isPortFree(port)),
    canConnect: (port) => incarnation.call(latencyMs(), () => answerOf(port) !== 'closed'),
    httpGet: async (port, _path, timeoutMs): Promise<HttpAnswer> => {
      const answer = await incarnation.call(latencyMs(), () => answerOf(port));
      switch (answer) {
        case 'ok':
          return { kind: 'answered', status: 200 };
        case 'error':
          return { kind: 'answered', status: 503 };
        case 'closed':
          return { kind: 'refused' };
        case 'hang':
          return incarnation.call(timeoutMs, () => ({ kind: 'timed-out' }));
      }
    },
  };
}
