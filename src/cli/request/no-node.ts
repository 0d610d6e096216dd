import type { RunyardClient } from '../../client/api.ts';

/** Why something waits where no node runs, and what to do about it. */
export function waitsForNode(client: Pick<RunyardClient, 'server'>, what: string): string {
  if (client.server === null) return `${what} waits: no node is running here\n  yard up`;
  return `${what} waits: no node of ${client.server} is running\n  yard up --server ${client.server} --token-file F on a machine that is to join it`;
}
