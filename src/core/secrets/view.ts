import type { State } from '../state.ts';
import type { Secret } from './secret.ts';

/** A secret as `--json`, the API and the SDK show it: everything but its value. */
export interface SecretView {
  readonly name: string;
  /** Null for one that stays on its nodes. */
  readonly project: string | null;
  /** Who set it; null for one that stays on its nodes. */
  readonly setBy: string | null;
  readonly setAt: string | null;
  /** Nodes that can open it, sorted. */
  readonly nodes: readonly string[];
  /** Nodes that are known and cannot open it, sorted. */
  readonly closedTo: readonly string[];
}

/** The secrets of a project, or of all; then those that stay on nodes. */
export function viewSecrets(state: State, project: string | null): readonly SecretView[] {
  const shared = [...state.secrets.values()]
    .filter((secret) => project === null || secret.project === project)
    .map((secret) => viewSecret(state, secret));
  return [...shared, ...viewNodeSecrets(state)].sort(byName);
}

export function viewSecret(state: State, { project, name, by, setAtMs, boxes }: Secret): SecretView {
  const openers = new Set<string>();
  for (const node of state.nodes.values()) {
    if (node.publicKey !== null && boxes.has(node.publicKey)) openers.add(node.name);
  }
  return { project, name, setBy: by, setAt: new Date(setAtMs).toISOString(), ...split(state, openers) };
}

function viewNodeSecrets(state: State): readonly SecretView[] {
  const keepers = new Map<string, Set<string>>();
  for (const node of state.nodes.values()) {
    for (const name of node.secrets) keepers.set(name, (keepers.get(name) ?? new Set()).add(node.name));
  }
  return [...keepers].map(([name, nodes]) => ({
    project: null,
    name,
    setBy: null,
    setAt: null,
    ...split(state, nodes),
  }));
}

function split(state: State, openers: ReadonlySet<string>): { nodes: readonly string[]; closedTo: readonly string[] } {
  const names = [...state.nodes.keys()].sort();
  return {
    nodes: names.filter((name) => openers.has(name)),
    closedTo: names.filter((name) => !openers.has(name)),
  };
}

function byName(a: SecretView, b: SecretView): number {
  const [first, second] = [a, b].map(({ name, project }) => `${name}\0${project ?? ''}`);
  return (first ?? '') < (second ?? '') ? -1 : 1;
}
