import type { Command } from '../command.ts';
import { type DecideContext, type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { checkBytes } from '../job/check-spec.ts';
import { findTask, parseTaskKey } from '../job/job.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { mayBeLost } from './decide-leases.ts';
import type { Node } from './node.ts';

export function decideLeaveNode(state: State, command: Extract<Command, { kind: 'LeaveNode' }>): Decision {
  const node = state.nodes.get(command.node);
  const isThere = node?.presence.kind === 'up' || node?.presence.kind === 'suspect';
  const leaves = node?.instance === command.instance && isThere;
  return done(leaves ? [{ kind: 'NodeLeft', node: command.node, instance: command.instance }] : []);
}

/** Said again without a deadline it changes nothing; with one, the deadline counts from now. */
export function decideDrainNode(
  state: State,
  command: Extract<Command, { kind: 'DrainNode' }>,
  { nowMs }: DecideContext,
): Decision | Refusal {
  const node = state.nodes.get(command.node);
  if (node === undefined) return unknownNode(state, command.node);
  const { reason, by, deadlineMs } = command;
  if (deadlineMs !== null && !(Number.isSafeInteger(deadlineMs) && deadlineMs >= 0 && deadlineMs <= longestDrainMs)) {
    return refuse('RANGE', `deadline must be from 0 to 30 days, found ${deadlineMs} ms`, { path: 'deadline' });
  }
  const wrong = checkReason(reason);
  if (wrong !== null) return wrong;
  const isAsKnown = node.drain?.reason === reason && node.drain.deadlineAtMs === null && deadlineMs === null;
  const deadlineAtMs = deadlineMs === null ? null : nowMs + deadlineMs;
  return done(isAsKnown ? [] : [{ kind: 'NodeDrained', node: node.name, reason, by, deadlineAtMs }]);
}

/** It is shown in every list of nodes, and kept in the log for good. */
function checkReason(reason: string): Refusal | null {
  if (reason.length > longestReason) {
    return refuse('RANGE', `reason has ${reason.length} characters; at most ${longestReason} fit`, { path: 'reason' });
  }
  return checkBytes(reason, 'reason');
}

const longestReason = 500;
const longestDrainMs = 30 * 24 * 3_600_000;

export function decideResumeNode(state: State, command: Extract<Command, { kind: 'ResumeNode' }>): Decision | Refusal {
  const node = state.nodes.get(command.node);
  if (node === undefined) return unknownNode(state, command.node);
  return done(node.drain === null ? [] : [{ kind: 'NodeResumed', node: node.name, by: command.by }]);
}

/**
 * Forgets a node that is gone. One that is silent is first declared lost on the person's word, with its work decided on
 * as its profiles say; said again of a node that is lost, what may still run there is given up as well.
 */
export function decideRemoveNode(state: State, command: Extract<Command, { kind: 'RemoveNode' }>): Decision | Refusal {
  const node = state.nodes.get(command.node);
  if (node === undefined) return unknownNode(state, command.node);
  const { name, presence, allocations } = node;
  const { by } = command;
  if (presence.kind === 'up') {
    return refuse('WRONG_STATE', `node ${name} is up`, { hint: `stop its agent first: yard down --name ${name}` });
  }
  if (presence.kind === 'lost') return done([...givenUp(state, node, by), { kind: 'NodeRemoved', node: name, by }]);
  if (node.leased && mayBeLost(node)) return done([{ kind: 'NodeDeclaredLost', node: name, by }]);
  if (allocations.size > 0) {
    return refuse('WRONG_STATE', `node ${name} still has ${allocations.size} tasks placed on it`, {
      hint: 'stop them, or start its agent again',
    });
  }
  return done([{ kind: 'NodeRemoved', node: name, by }]);
}

/** Whoever removes a lost node vouches that nothing runs there: what waits for it waits no longer. */
function givenUp(state: State, { name, allocations }: Node, by: string): readonly Fact[] {
  return [...allocations].flatMap(([task, { held }]): Fact[] => {
    const key = parseTaskKey(task);
    if (held) return [{ kind: 'AllocationReleased', node: name, task }];
    if (key === null || findTask(state.jobs.get(key.job), key) === null) return [];
    return [{ kind: 'NodeLost', ...key, message: `node ${name} was removed by ${by}`, held: false }];
  });
}

function unknownNode(state: State, name: string): Refusal {
  const known = [...state.nodes.keys()].sort().join(', ');
  return refuse('NOT_FOUND', `there is no node ${JSON.stringify(name)}`, {
    hint: known === '' ? 'start one: yard up' : `there are: ${known}`,
  });
}
