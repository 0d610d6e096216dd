import type { JoinNode } from '../command.ts';
import { type DecideContext, type Decision, done } from '../decide.ts';
import type { Fact } from '../fact.ts';
import { checkName } from '../job/check-spec.ts';
import { taskKeyText } from '../job/job.ts';
import { isRefusal, type Refusal, refuse } from '../refusal.ts';
import { secretsAsJoined, secretsOfJoin } from '../secrets/node-secrets.ts';
import type { State } from '../state.ts';
import { describeDuration } from '../units.ts';
import { clampCapacity } from './capacity.ts';
import type { Node } from './node.ts';

/** Clocks further apart than this make every time that people see of the node's work nonsense. */
const mostSkewMs = 3_600_000;

/**
 * A node joins, or comes back. After a reboot nothing of it can be alive: what had begun is lost (S11), what had only
 * been placed has not begun and starts now. Without one, what runs there and is still wanted goes on; what it has no
 * records of any more is gone. An agent that another has taken over from may not come back.
 */
export function decideJoinNode(state: State, command: JoinNode, context: DecideContext): Decision | Refusal {
  const known = state.nodes.get(command.node);
  const wrong = checkName(command.node, 'node') ?? checkClock(command, context) ?? checkInstance(command, known);
  if (wrong !== null) return wrong;
  const secrets = secretsOfJoin(command);
  if (isRefusal(secrets)) return secrets;
  const { node, instance, bootId, advertise, platform, version, leased } = command;
  const capacity = leased ? clampCapacity(command.capacity) : command.capacity;
  const facts: Fact[] = [];
  if (known !== undefined) facts.push(...lostTasks(state, command, known), ...released(command, known));
  const told = { instance, bootId, capacity, advertise, platform, version, leased };
  const joined = { kind: 'NodeJoined' as const, node, ...told, ...secrets };
  if (!isAsKnown(joined, known)) facts.push(joined);
  return done(facts);
}

/** A node that is embedded has the control plane's own clock. */
function checkClock({ node, leased, wallMs }: JoinNode, { atMs }: DecideContext): Refusal | null {
  if (!leased || wallMs === null || Math.abs(wallMs - atMs) <= mostSkewMs) return null;
  const apart = describeDuration(Math.abs(wallMs - atMs));
  const how = wallMs > atMs ? 'ahead of' : 'behind';
  return refuse(
    'CLOCK_SKEW',
    `the clock of node ${node} is ${apart} ${how} the server's: it may be an hour off at most`,
    {
      hint: 'set both clocks (NTP), then start the node again',
    },
  );
}

function checkInstance({ node, instance }: JoinNode, known: Node | undefined): Refusal | null {
  if (known === undefined || !known.superseded.includes(instance)) return null;
  return refuse('STALE_ATTEMPT', `another agent has taken over node ${node}`, { hint: 'stop this one' });
}

function lostTasks(state: State, command: JoinNode, known: Node): readonly Fact[] {
  if (known.bootId === command.bootId) return [];
  const begun = new Set(command.inventory.map(taskKeyText));
  const facts: Fact[] = [];
  for (const job of state.jobs.values()) {
    for (const [index, element] of job.elements) {
      if (element.kind !== 'live') continue;
      for (const task of element.tasks) {
        const key = { job: job.id, index, rank: task.rank, attempt: element.attempt };
        if (task.node !== command.node || task.step === 'ended') continue;
        if (!task.begun && !begun.has(taskKeyText(key))) continue;
        facts.push({ kind: 'NodeLost', ...key, message: `the host of node ${command.node} rebooted`, held: false });
      }
    }
  }
  return facts;
}

/** Held allocations of which nothing can be left: all after a reboot, else those that the agent knows nothing of. */
function released({ node, bootId, leased, inventory }: JoinNode, known: Node): readonly Fact[] {
  const isReboot = known.bootId !== bootId;
  if (!isReboot && !leased) return [];
  const kept = new Set(isReboot ? [] : inventory.map(taskKeyText));
  return [...known.allocations].flatMap(([task, { held }]): Fact[] =>
    held && !kept.has(task) ? [{ kind: 'AllocationReleased', node, task }] : [],
  );
}

/** An agent that connects again within its lease tells nothing new: a steady system appends nothing. */
function isAsKnown(joined: Extract<Fact, { kind: 'NodeJoined' }>, known: Node | undefined): boolean {
  if (known === undefined || known.presence.kind !== 'up') return false;
  const { kind: _kind, node: _node, ...told } = joined;
  const { instance, bootId, capacity, advertise, platform, version, leased } = known;
  const same = { instance, bootId, capacity, advertise, platform, version, leased, ...secretsAsJoined(known) };
  return JSON.stringify(told) === JSON.stringify(same);
}
