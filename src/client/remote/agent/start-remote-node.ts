import { refuse } from '../../../core/refusal.ts';
import type { NodeOptions, RunningNode } from '../../api.ts';
import { RefusalError } from '../../refusal-error.ts';
import type { Remote } from '../remote.ts';

/** Serves this machine as a node of a server. */
export function startRemoteNode(remote: Remote, _options: NodeOptions): Promise<RunningNode | null> {
  const message = `this machine cannot join ${remote.http.place} as a node yet`;
  return Promise.reject(new RefusalError(refuse('UNSUPPORTED', message)));
}
