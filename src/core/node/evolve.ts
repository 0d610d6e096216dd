import type { State } from '../state.ts';
import type { NodeFact } from './facts.ts';
import type { Node } from './node.ts';

/** Folds one fact about a node. Total. */
export function evolveNode(state: State, fact: NodeFact, nowMs: number): void {
  state.derived.placementDue = true;
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
    case 'NodeDrained':
      node.drain = { reason: fact.reason, by: fact.by };
      break;
    case 'NodeResumed':
      node.drain = null;
      break;
    case 'NodeRemoved':
      state.nodes.delete(fact.node);
      for (const task of node.allocations.keys()) state.derived.held.delete(task);
      break;
    case 'AllocationReleased':
      node.allocations.delete(fact.task);
      state.derived.held.delete(fact.task);
      break;
  }
}

function join(state: State, fact: Extract<NodeFact, { kind: 'NodeJoined' }>, nowMs: number): void {
  const { capacity, advertise, platform, version, instance, bootId } = fact;
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
      presence: { kind: 'up' },
      drain: null,
      joinedAtMs: nowMs,
      allocations: new Map(),
    };
    state.nodes.set(fact.node, node);
    return;
  }
  Object.assign(known, { capacity, advertise, platform, version, instance, bootId, joinedAtMs: nowMs });
  known.presence = { kind: 'up' };
}
