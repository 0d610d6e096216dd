import type { CheckLeases, NodeHeard } from '../command.ts';
import { type DecideContext, type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { countSilent, isTogether } from './loss.ts';
import type { Node } from './node.ts';

/**
 * Looks at the leases as they stand under the log's lock: one that ended makes its node suspect, and lost once the grace
 * is over as well. After an outage of the control plane nothing follows: all leases become long with the same commit.
 */
export function decideCheckLeases(state: State, command: CheckLeases, context: DecideContext): Decision {
  if (context.afterOutage) return done([]);
  const suspects: Fact[] = [];
  const overdue: Fact[] = [];
  for (const name of new Set(command.nodes)) {
    const node = state.nodes.get(name);
    const readMs = context.leases.get(name);
    if (node === undefined || readMs === undefined) continue;
    // Whoever joined earlier in this very commit has a lease that is not written yet.
    const untilMs = Math.max(readMs, node.joinedAtMs + context.leaseTimes.leaseMs);
    if (!node.leased || untilMs > context.nowMs) continue;
    if (node.presence.kind === 'up') suspects.push({ kind: 'NodeSuspected', node: name });
    const isOver = untilMs + context.leaseTimes.graceMs <= context.nowMs;
    if (isOver && mayBeLost(node) && state.lossHeld === null) {
      overdue.push({ kind: 'NodeDeclaredLost', node: name, by: null });
    }
  }
  // Those who fall silent with this very look count as well: with them it may be many, and then none is lost.
  const { silent, of } = countSilent(state);
  return done(isTogether(silent + suspects.length, of) ? suspects : [...suspects, ...overdue]);
}

/** A node that left in good order is only missed for the work that it left running. */
export function mayBeLost({ presence, allocations }: Node): boolean {
  return presence.kind === 'suspect' || (presence.kind === 'down' && allocations.size > 0);
}

/** A sign of life. Only of a node that was missed is it news. */
export function decideNodeHeard(state: State, { node: name, instance }: NodeHeard): Decision | Refusal {
  const node = state.nodes.get(name);
  if (node === undefined) return refuse('NOT_FOUND', `no node ${name} has joined`);
  if (node.instance !== instance) {
    return refuse('STALE_ATTEMPT', `another agent has taken over node ${name}`, { hint: 'stop this one' });
  }
  const wasMissed = node.presence.kind === 'suspect' || node.presence.kind === 'lost';
  return done(wasMissed ? [{ kind: 'NodeResponded', node: name }] : []);
}
