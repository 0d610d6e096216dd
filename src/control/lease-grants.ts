import type { Fact } from '../core/fact.ts';
import { type LeaseTimes, leaseName } from '../core/node/lease-times.ts';
import type { Node } from '../core/node/node.ts';
import type { State } from '../core/state.ts';
import type { AppendView, LeaseGrant } from '../log/fact-log.ts';

/** Log time at which leases end, by node, of those that were asked for. */
export function leaseEnds(state: State, { leases }: Pick<AppendView<Fact>, 'leases'>): ReadonlyMap<string, number> {
  const ends = new Map<string, number>();
  if (leases.size === 0) return ends;
  for (const node of state.nodes.keys()) {
    const lease = leases.get(leaseName(node));
    if (lease !== undefined) ends.set(node, lease.untilMs);
  }
  return ends;
}

/** Leases that change with a commit: the same transaction writes them, so that no look at them can come between. */
export function leasesAfter(
  state: State,
  { facts, afterOutage, leaseTimes }: { facts: readonly Fact[]; afterOutage: boolean; leaseTimes: LeaseTimes },
): readonly LeaseGrant[] {
  const grants = new Map<string, LeaseGrant>();
  if (afterOutage) for (const grant of longLeases(state.nodes.values(), leaseTimes)) grants.set(grant.name, grant);
  for (const fact of facts) {
    for (const grant of leasesOf(state, fact, leaseTimes)) grants.set(grant.name, grant);
  }
  return [...grants.values()];
}

/** For every node that has a lease: that it was not heard while nobody listened says nothing of it. */
export function longLeases(
  nodes: Iterable<Node>,
  { afterOutageMs }: Pick<LeaseTimes, 'afterOutageMs'>,
): readonly LeaseGrant[] {
  return leasedOf(nodes).map((node) => grant(node, { forMs: afterOutageMs, heard: false }));
}

function leasesOf(state: State, fact: Fact, { leaseMs }: LeaseTimes): readonly LeaseGrant[] {
  if (fact.kind === 'NodeJoined') {
    const node = state.nodes.get(fact.node);
    return node?.leased === true ? [grant(node, { forMs: leaseMs, heard: true })] : [];
  }
  if (fact.kind !== 'LossReleased') return [];
  // Others have just come back: those that have not get their whole grace again.
  const silent = leasedOf(state.nodes.values()).filter(({ presence }) => presence.kind === 'suspect');
  return silent.map((node) => grant(node, { forMs: 0, heard: false }));
}

function leasedOf(nodes: Iterable<Node>): readonly Node[] {
  return [...nodes].filter(({ leased }) => leased);
}

function grant({ name, instance }: Node, { forMs, heard }: { forMs: number; heard: boolean }): LeaseGrant {
  return { name: leaseName(name), holder: instance, forMs, heard };
}
