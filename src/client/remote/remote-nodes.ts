import type { Nodes } from '../api.ts';
import { defaultNodeName } from '../capacity.ts';
import type { Remote } from './remote.ts';

export function createRemoteNodes(remote: Remote): Nodes {
  const { http, home, host } = remote;
  return {
    async list() {
      return (await http.call('listNodes', {})).items;
    },
    get: (name) => http.call('getNode', { params: { name } }),
    async drain(name, options = {}) {
      const { reason, deadlineMs } = options;
      const body = {
        ...(reason === undefined ? {} : { reason }),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
      };
      await http.call('drainNode', { params: { name }, body });
    },
    async resume(name) {
      await http.call('resumeNode', { params: { name } });
    },
    async remove(name) {
      await http.call('removeNode', { params: { name } });
    },
    // A process of this machine: whether the server hears of it is what its view says.
    async isRunning(name) {
      const { isServedHere } = await import('../served-here.ts');
      return isServedHere({ home, host }, name);
    },
    defaultName: () => defaultNodeName(host),
    async start(options = {}) {
      const { startRemoteNode } = await import('./agent/start-remote-node.ts');
      return startRemoteNode(remote, options);
    },
  };
}
