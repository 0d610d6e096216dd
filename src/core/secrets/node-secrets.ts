import type { JoinNode, NodeReport } from '../command.ts';
import type { Fact } from '../fact.ts';
import type { Node } from '../node/node.ts';
import { isRefusal, type Refusal } from '../refusal.ts';
import type { State } from '../state.ts';
import { checkBoxes, checkNodeSecrets, checkPublicKey } from './check-secret.ts';
import type { SharedSecret } from './command.ts';
import { secretKey } from './secret.ts';

/** What a joining node says of secrets, as its fact has it: a key to seal to, and the names of what stays on it. */
export function secretsOfJoin({
  publicKey,
  secrets,
}: JoinNode): Pick<Extract<Fact, { kind: 'NodeJoined' }>, 'publicKey' | 'secrets'> | Refusal {
  const wrong =
    (publicKey === undefined ? null : checkPublicKey(publicKey, 'publicKey')) ?? checkNodeSecrets(secrets ?? []);
  if (wrong !== null) return wrong;
  return secretsAsJoined({ publicKey: publicKey ?? null, secrets: sorted(secrets ?? []) });
}

/** The same, of a node that has joined. */
export function secretsAsJoined({
  publicKey,
  secrets,
}: Pick<Node, 'publicKey' | 'secrets'>): Pick<Extract<Fact, { kind: 'NodeJoined' }>, 'publicKey' | 'secrets'> {
  return { ...(publicKey === null ? {} : { publicKey }), ...(secrets.length === 0 ? {} : { secrets }) };
}

/** What is new in a report about secrets. */
export function secretsOfReport(state: State, node: Node, report: NodeReport): readonly Fact[] | Refusal {
  const names = namesChanged(node, report.secrets);
  if (isRefusal(names)) return names;
  const facts: Fact[] = [...names];
  for (const shared of report.shared ?? []) {
    const news = sharedNews(state, node, shared);
    if (isRefusal(news)) return news;
    facts.push(...news);
  }
  return facts;
}

function namesChanged(node: Node, secrets: readonly string[] | undefined): readonly Fact[] | Refusal {
  if (secrets === undefined) return [];
  const wrong = checkNodeSecrets(secrets);
  if (wrong !== null) return wrong;
  const names = sorted(secrets);
  if (names.join() === node.secrets.join()) return [];
  return [{ kind: 'NodeSecretsChanged', node: node.name, secrets: names }];
}

/**
 * Boxes that a node has sealed for others. Only from the value that stands, which the box that it opened proves, and
 * only for known nodes that have none: a node can add readers that it was asked to add, and change nothing.
 */
function sharedNews(state: State, node: Node, shared: SharedSecret): readonly Fact[] | Refusal {
  const { project, name, from, boxes } = shared;
  const wrong = checkBoxes(boxes);
  if (wrong !== null) return wrong;
  const secret = state.secrets.get(secretKey(project, name));
  if (secret === undefined || node.publicKey === null || secret.boxes.get(node.publicKey) !== from) return [];
  const known = new Set([...state.nodes.values()].map(({ publicKey }) => publicKey));
  const added = Object.entries(boxes).filter(([key]) => known.has(key) && !secret.boxes.has(key));
  if (added.length === 0) return [];
  return [{ kind: 'SecretShared', project, name, boxes: Object.fromEntries(added), node: node.name }];
}

function sorted(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort();
}
