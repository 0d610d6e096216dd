import type { Command, JoinNode } from '../command.ts';
import { type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { checkName } from '../job/check-spec.ts';
import { taskKeyText } from '../job/job.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';

/**
 * A node joins, or comes back. After a reboot nothing of it can be alive: what had begun is lost (S11), what had only
 * been placed has not begun and starts now.
 */
export function decideJoinNode(state: State, command: JoinNode): Decision | Refusal {
  const wrong = checkName(command.node, 'node');
  if (wrong !== null) return wrong;
  const { node, instance, bootId, capacity, advertise, platform, version } = command;
  const known = state.nodes.get(node);
  const lost = known === undefined || known.bootId === bootId ? [] : lostTasks(state, command);
  return done([...lost, { kind: 'NodeJoined', node, instance, bootId, capacity, advertise, platform, version }]);
}

function lostTasks(state: State, command: JoinNode): readonly Fact[] {
  const begun = new Set(command.inventory.map(taskKeyText));
  const facts: Fact[] = [];
  for (const job of state.jobs.values()) {
    for (const [index, element] of job.elements) {
      if (element.kind !== 'live') continue;
      for (const task of element.tasks) {
        const key = { job: job.id, index, rank: task.rank, attempt: element.attempt };
        if (task.node !== command.node || task.step === 'ended') continue;
        if (!task.begun && !begun.has(taskKeyText(key))) continue;
        facts.push({ kind: 'NodeLost', ...key, message: `the host of node ${command.node} rebooted` });
      }
    }
  }
  for (const [task, allocation] of state.nodes.get(command.node)?.allocations ?? []) {
    if (allocation.held) facts.push({ kind: 'AllocationReleased', node: command.node, task });
  }
  return facts;
}

export function decideLeaveNode(state: State, command: Extract<Command, { kind: 'LeaveNode' }>): Decision {
  const node = state.nodes.get(command.node);
  const leaves = node?.instance === command.instance && node.presence.kind === 'up';
  return done(leaves ? [{ kind: 'NodeLeft', node: command.node, instance: command.instance }] : []);
}

export function decideDrainNode(state: State, command: Extract<Command, { kind: 'DrainNode' }>): Decision | Refusal {
  const node = state.nodes.get(command.node);
  if (node === undefined) return unknownNode(state, command.node);
  const { reason, by } = command;
  return done(node.drain?.reason === reason ? [] : [{ kind: 'NodeDrained', node: node.name, reason, by }]);
}

export function decideResumeNode(state: State, command: Extract<Command, { kind: 'ResumeNode' }>): Decision | Refusal {
  const node = state.nodes.get(command.node);
  if (node === undefined) return unknownNode(state, command.node);
  return done(node.drain === null ? [] : [{ kind: 'NodeResumed', node: node.name, by: command.by }]);
}

export function decideRemoveNode(state: State, command: Extract<Command, { kind: 'RemoveNode' }>): Decision | Refusal {
  const node = state.nodes.get(command.node);
  if (node === undefined) return unknownNode(state, command.node);
  if (node.presence.kind === 'up') {
    return refuse('WRONG_STATE', `node ${node.name} is up`, {
      hint: `stop its agent first: yard down --name ${node.name}`,
    });
  }
  if (node.allocations.size > 0) {
    return refuse('WRONG_STATE', `node ${node.name} still has ${node.allocations.size} tasks placed on it`, {
      hint: 'stop them, or start its agent again',
    });
  }
  return done([{ kind: 'NodeRemoved', node: node.name, by: command.by }]);
}

function unknownNode(state: State, name: string): Refusal {
  const known = [...state.nodes.keys()].sort().join(', ');
  return refuse('NOT_FOUND', `there is no node ${JSON.stringify(name)}`, {
    hint: known === '' ? 'start one: yard up' : `there are: ${known}`,
  });
}
