import type { Job } from '../job/job.ts';
import type { Node } from '../node/node.ts';
import type { State } from '../state.ts';
import { secretKey, secretNames } from './secret.ts';

/** The first secret of a job that a node cannot open; null when it can open all of them. */
export type ClosedSecret = (node: Node) => string | null;

/** For work that names no secret. */
export const nothingClosed: ClosedSecret = () => null;

/** What keeps a job off nodes: a task goes only where all of its secrets can be opened. */
export function closedSecrets(state: State, { project, spec }: Pick<Job, 'project' | 'spec'>): ClosedSecret {
  const names = secretNames(spec);
  if (names.length === 0) return nothingClosed;
  return (node) => names.find((name) => !canOpen(state, node, { project, name })) ?? null;
}

/** True where a box is sealed to the node's key, or the node keeps a secret of that name itself. */
export function canOpen(state: State, node: Node, { project, name }: { project: string; name: string }): boolean {
  return boxFor(state, node, { project, name }) !== null || node.secrets.includes(name);
}

/** The boxes that a node is given to open for a job, by the name of the secret; what stays on the node has none. */
export function boxesFor(
  state: State,
  { project, spec }: Pick<Job, 'project' | 'spec'>,
  nodeName: string,
): Readonly<Record<string, string>> {
  const names = secretNames(spec);
  const node = names.length === 0 ? undefined : state.nodes.get(nodeName);
  if (node === undefined) return noBoxes;
  return Object.fromEntries(
    names.flatMap((name) => {
      const box = boxFor(state, node, { project, name });
      return box === null ? [] : [[name, box] as const];
    }),
  );
}

const noBoxes: Readonly<Record<string, string>> = {};

function boxFor(state: State, node: Node, { project, name }: { project: string; name: string }): string | null {
  if (node.publicKey === null) return null;
  return state.secrets.get(secretKey(project, name))?.boxes.get(node.publicKey) ?? null;
}
