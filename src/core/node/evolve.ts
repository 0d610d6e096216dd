import type { State } from '../state.ts';
import { charge } from '../usage/charge.ts';
import type { NodeFact } from './facts.ts';
import { noteLostNode } from './loss.ts';
import type { Node } from './node.ts';

/** Agents before the present one that are remembered: of a cloned machine there are two, seldom more. */
const mostSuperseded = 8;

/** Folds one fact about a node. Total. */
export function evolveNode(state: State, fact: NodeFact, nowMs: number): void {
  if (fact.kind === 'LossHeld' || fact.kind === 'LossReleased') {
    state.lossHeld = fact.kind === 'LossHeld' ? { sinceMs: nowMs } : null;
    return;
  }
  state.derived.placementDue = true;
  state.derived.silenceDue = true;
  state.derived.free.delete(fact.node);
  if (fact.kind === 'NodeJoined') {
    join(state, fact, nowMs);
    return;
  }
  const node = state.nodes.get(fact.node);
  if (node === undefined) return;
  switch (fact.kind) {
    case 'NodeLeft':
      if (node.instance === fact.instance) node.presence = { kind: 'down', sinceMs: nowMs };
      break;
    case 'NodeSuspected':
      node.presence = { kind: 'suspect', sinceMs: nowMs };
      break;
    case 'NodeResponded':
      node.presence = { kind: 'up' };
      break;
    case 'NodeDeclaredLost':
      node.presence = { kind: 'lost', sinceMs: nowMs };
      noteLostNode(state, fact.node);
      break;
    case 'NodeDrained':
      // Facts from before there were deadlines name none.
      node.drain = { reason: fact.reason, by: fact.by, deadlineAtMs: fact.deadlineAtMs ?? null };
      break;
    case 'NodeResumed':
      node.drain = null;
      break;
    case 'NodeRemoved':
      state.nodes.delete(fact.node);
      for (const [task, allocation] of node.allocations) {
        charge(state, task, allocation, nowMs);
        state.derived.held.delete(task);
      }
      break;
    case 'NodeSecretsChanged':
      node.secrets = fact.secrets;
      break;
    case 'AllocationReleased':
      release(state, node, fact.task, nowMs);
      break;
  }
}

function release(state: State, { allocations }: Node, task: string, nowMs: number): void {
  const allocation = allocations.get(task);
  if (allocation !== undefined) charge(state, task, allocation, nowMs);
  allocations.delete(task);
  state.derived.held.delete(task);
}

function join(state: State, fact: Extract<NodeFact, { kind: 'NodeJoined' }>, nowMs: number): void {
  const { capacity, advertise, platform, version, instance, bootId } = fact;
  // Facts from before there were leases do not name it.
  const leased = fact.leased === true;
  const known = state.nodes.get(fact.node);
  if (known === undefined) {
    const node: Node = {
      name: fact.node,
      instance,
      bootId,
      capacity,
      advertise,
      platform,
      version,
      leased,
      presence: { kind: 'up' },
      drain: null,
      superseded: [],
      joinedAtMs: nowMs,
      publicKey: fact.publicKey ?? null,
      secrets: fact.secrets ?? [],
      allocations: new Map(),
    };
    state.nodes.set(fact.node, node);
    return;
  }
  if (known.instance !== instance) {
    known.superseded = [known.instance, ...known.superseded].slice(0, mostSuperseded);
  }
  Object.assign(known, { capacity, advertise, platform, version, instance, bootId, leased, joinedAtMs: nowMs });
  known.publicKey = fact.publicKey ?? null;
  known.secrets = fact.secrets ?? [];
  known.presence = { kind: 'up' };
}
