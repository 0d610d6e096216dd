import { describeAccess } from './access/describe.ts';
import { isAccessFact } from './access/facts.ts';
import type { Fact } from './fact.ts';
import type { TaskFact } from './job/facts.ts';
import { parseTaskKey } from './job/job.ts';
import { howItExited } from './reason.ts';
import { isSecretFact, type SecretFact } from './secrets/facts.ts';
import { isServiceFact, type ServiceFact } from './service/facts.ts';
import { describeDuration } from './units.ts';

/** One fact as one line for a person, without its time (`yard events`). Pure; never more than one line. */
export function describeFact(fact: Fact): string {
  return oneLine(describe(fact));
}

/** The job, the node and the service that a fact is about, as far as it names them. */
export function factSubject(fact: Fact): FactSubject {
  return { service: null, ...subjectOf(fact) };
}

export interface FactSubject {
  readonly job: string | null;
  readonly node: string | null;
  readonly service: string | null;
}

function subjectOf(fact: Fact): Omit<FactSubject, 'service'> & Partial<FactSubject> {
  if (isServiceFact(fact)) return { job: 'job' in fact ? fact.job : null, node: null, service: fact.service };
  if (isAccessFact(fact)) return { job: null, node: fact.kind === 'NodeAdmitted' ? fact.node : null };
  if (isSecretFact(fact)) return { job: null, node: fact.kind === 'SecretShared' ? fact.node : null };
  switch (fact.kind) {
    case 'NodeJoined':
    case 'NodeSuspected':
    case 'NodeResponded':
    case 'NodeDeclaredLost':
    case 'NodeSecretsChanged':
    case 'NodeLeft':
    case 'NodeDrained':
    case 'NodeResumed':
    case 'NodeRemoved':
      return { job: null, node: fact.node };
    case 'JobSubmitted':
      return { job: fact.job, node: null, service: fact.service?.name ?? null };
    case 'AllocationReleased':
      return { job: parseTaskKey(fact.task)?.job ?? null, node: fact.node };
    case 'LossHeld':
    case 'LossReleased':
    case 'ProfileApplied':
      return { job: null, node: null };
    case 'AttemptPlaced':
      return { job: fact.job, node: fact.tasks.length === 1 ? (fact.tasks[0]?.node ?? null) : null };
    default:
      return { job: fact.job, node: null };
  }
}

function describe(fact: Fact): string {
  if (isServiceFact(fact)) return `service ${fact.service} ${describeService(fact)}`;
  if (isAccessFact(fact)) return describeAccess(fact);
  if (isSecretFact(fact)) return describeSecret(fact);
  switch (fact.kind) {
    case 'JobSubmitted':
      return `${fact.job} submitted by ${fact.owner}${submittedAs(fact)}`;
    case 'AttemptPlaced':
      return `${attemptText(fact)} placed on ${fact.tasks.map(allocationText).join(', ')}`;
    case 'AttemptEnded':
      return `${attemptText(fact)} ended (${fact.outcome.reason}): ${fact.outcome.message}${fact.retryAtMs === null ? '' : '; another follows'}`;
    case 'RetryRequested':
      return `${attemptText(fact)} is to be followed by another, asked for by ${fact.by}`;
    case 'OperatorStop':
      return `${fact.job}${partsText(fact.indices)} is to stop: ${fact.message}, ${describeDuration(fact.graceMs)} of grace`;
    case 'Unschedulable':
      return `${fact.job} can never be placed: ${fact.message}`;
    case 'Evicted':
      return `${attemptText(fact)} is to stop: ${fact.message}`;
    case 'JobEnded':
      return `${fact.job} ended (${fact.outcome.reason}): ${fact.outcome.message}`;
    case 'JobArchived':
      return `${fact.job} went to the archive`;
    case 'NodeJoined':
      return `node ${fact.node} joined: ${fact.capacity.cpus} cores, ${fact.capacity.memoryMiB} MiB, ${fact.capacity.gpus.length} GPUs, version ${fact.version}`;
    case 'NodeLeft':
      return `node ${fact.node} left`;
    case 'NodeDrained':
      return `node ${fact.node} takes no new work, asked for by ${fact.by}: ${fact.reason}`;
    case 'NodeSuspected':
      return `node ${fact.node} is silent: its lease ended`;
    case 'NodeResponded':
      return `node ${fact.node} is heard again`;
    case 'NodeDeclaredLost':
      return `node ${fact.node} is lost: ${fact.by === null ? 'it stayed silent' : `${fact.by} said so`}`;
    case 'LossHeld':
      return `no node is declared lost for now: ${fact.silent} of ${fact.of} are silent together`;
    case 'LossReleased':
      return 'nodes may be declared lost again: few are silent';
    case 'NodeResumed':
      return `node ${fact.node} takes work again, asked for by ${fact.by}`;
    case 'NodeRemoved':
      return `node ${fact.node} removed by ${fact.by}`;
    case 'AllocationReleased':
      return `node ${fact.node} confirmed that nothing of ${fact.task} is left`;
    case 'NodeSecretsChanged':
      return `node ${fact.node} keeps ${fact.secrets.length === 0 ? 'no secrets' : `the secrets ${fact.secrets.join(', ')}`}`;
    case 'ProfileApplied':
      return `profile ${fact.name}@${fact.revision} applied by ${fact.by}`;
    default:
      return `${taskText(fact)} ${describeTask(fact)}`;
  }
}

function describeTask(fact: TaskFact): string {
  switch (fact.kind) {
    case 'NodeReady':
      return 'has a node that is ready';
    case 'WorkspaceMaterialized':
      return 'has its workspace';
    case 'SetupCompleted':
      return fact.reused ? 'reuses an earlier setup' : 'finished its setup';
    case 'SetupFailed':
      return `failed in setup: ${howItExited(fact)}${fact.line === null ? '' : ` at line ${fact.line.number}: ${fact.line.text}`}`;
    case 'TaskPrepared':
      return `is prepared at ${fact.address}:${fact.port}`;
    case 'JobStarted':
      return fact.port === null ? 'started' : `started with port ${fact.port}`;
    case 'ReadinessChanged':
      return fact.ready ? 'is ready' : `is not ready${fact.reason === null ? '' : `: ${fact.reason}`}`;
    case 'Restarted':
      return `was restarted (${fact.restarts} so far): ${fact.lastFailure}`;
    case 'EndpointOpened':
      return `accepts connections at ${fact.endpoint}`;
    case 'JobExited':
      return `${howItExited(fact)}${fact.detail ? `: ${fact.detail}` : ''}`;
    case 'TimedOut':
      return `ran longer than its timeout of ${describeDuration(fact.timeoutMs)}`;
    case 'GaveUp':
      return `gave up: ${fact.message}`;
    case 'OutputsCollected':
      return `has its outputs collected: ${fact.outputs.filter((one) => one.state === 'collected').length} of ${fact.outputs.length}`;
    case 'NodeFault':
      return `was failed by its node: ${fact.message}${fact.held ? '; processes of it may still run' : ''}`;
    case 'NodeLost':
      return `lost its node: ${fact.message}`;
  }
}

function describeSecret(fact: SecretFact): string {
  const secret = `secret ${fact.name} of project ${fact.project}`;
  switch (fact.kind) {
    case 'SecretSet':
      return `${secret} was set by ${fact.by}, sealed to ${Object.keys(fact.boxes).length} keys`;
    case 'SecretShared':
      return `${secret} was sealed by node ${fact.node} to ${Object.keys(fact.boxes).length} more keys`;
    case 'SecretRemoved':
      return `${secret} was removed by ${fact.by}`;
  }
}

function describeService(fact: ServiceFact): string {
  switch (fact.kind) {
    case 'ServiceApplied':
      return `got revision ${fact.revision.number} from ${fact.by}, ${countReplicas(fact.desired)} wanted`;
    case 'ServiceScaled':
      return `was scaled to ${fact.desired} by ${fact.by}`;
    case 'ServiceStarted':
      return `was started by ${fact.by}`;
    case 'ServiceStopped':
      return `was stopped by ${fact.by}`;
    case 'ServiceCompleted':
      return 'is complete: every replica ended well';
    case 'ServiceRemoved':
      return `was removed by ${fact.by}`;
    case 'RolloutStarted':
      return `began to roll out revision ${fact.to}${fact.from === fact.to ? '' : `, coming from ${fact.from}`}`;
    case 'RolloutAdvanced':
      return `has ${countReplicas(fact.updated)} of the new revision available`;
    case 'RolloutPaused':
      return `had its rollout paused by ${fact.by}`;
    case 'RolloutResumed':
      return `had its rollout resumed by ${fact.by}`;
    case 'RolloutEnded':
      return `ended its rollout: ${fact.state}${fact.reason === null ? '' : `, ${fact.reason}`}`;
    case 'ReplacementDelayed':
      return `waits before the next replacement: ${fact.reason}`;
    case 'ServiceSettled':
      return 'has settled: its replicas have been ready for the stable period';
    case 'ReplicaDismissed':
      return `dismissed ${fact.job}: ${fact.reason}`;
  }
}

function countReplicas(count: number): string {
  return count === 1 ? '1 replica' : `${count} replicas`;
}

function submittedAs(fact: Extract<Fact, { kind: 'JobSubmitted' }>): string {
  const size = fact.indices?.length ?? fact.settings.array?.size ?? null;
  const array = size === null ? '' : `, an array of ${size}`;
  return `${array}${fact.retryOf === null ? '' : `, a retry of ${fact.retryOf}`}`;
}

function attemptText(fact: { readonly job: string; readonly index: number; readonly attempt: number }): string {
  return `attempt ${fact.attempt} of ${fact.job}${fact.index === 0 ? '' : `/${fact.index}`}`;
}

function taskText(fact: TaskFact): string {
  return `${attemptText(fact)}${fact.rank === 0 ? '' : ` rank ${fact.rank}`}`;
}

function allocationText(task: { readonly node: string; readonly devices: readonly string[] }): string {
  return task.devices.length === 0 ? task.node : `${task.node} with ${task.devices.join(' and ')}`;
}

function partsText(indices: readonly number[] | null): string {
  return indices === null ? '' : `/${indices.join(',')}`;
}

/** Messages come from outside and may have any characters; control characters become spaces. */
function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').trimEnd();
}
