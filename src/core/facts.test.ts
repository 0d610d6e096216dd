import { describe, expect, it } from 'vitest';
import { describeFact, factSubject } from './describe.ts';
import { evolve } from './evolve.ts';
import { type Fact, type FactKind, factKinds } from './fact.ts';
import { follow } from './follow.ts';
import { builtInSettings } from './profile/settings.ts';
import { toRecords } from './records.ts';
import { capacityOf, contextAt, Scenario, specOf } from './scenario.testsuite.ts';
import { emptyState } from './state.ts';

type Missing = Exclude<FactKind, (typeof factKinds)[number]>;
/** Compiles only while no kind is missing from the list. */
const nothingMissing: [Missing] extends [never] ? true : Missing = true;

const key = { job: 'j-1', index: 0, rank: 0, attempt: 1 };
const outcome = { reason: 'exit', exitCode: 3, signal: null, message: 'exited with code 3' } as const;
const output = { path: 'o', state: 'collected', sizeBytes: 1, why: null } as const;

/** One of each kind; the type asks for all of them and for no other. */
const samples: { readonly [Kind in FactKind]: Extract<Fact, { kind: Kind }> } = {
  JobSubmitted: {
    kind: 'JobSubmitted',
    job: 'j-1',
    name: 'j',
    project: 'default',
    owner: 'ada',
    spec: specOf(),
    source: {},
    settings: { ...builtInSettings, array: { size: 9, maxRunning: null } },
    origins: {},
    profile: null,
    workspace: null,
    retryOf: 'j-0',
    indices: null,
    service: null,
  },
  AttemptPlaced: {
    kind: 'AttemptPlaced',
    job: 'j-1',
    index: 4,
    attempt: 2,
    tasks: [{ node: 'n1', devices: ['GPU-1', 'GPU-2'], cpus: 1, memoryMiB: 0 }],
  },
  NodeReady: { ...key, kind: 'NodeReady' },
  WorkspaceMaterialized: { ...key, kind: 'WorkspaceMaterialized' },
  SetupCompleted: { ...key, kind: 'SetupCompleted', reused: true },
  SetupFailed: {
    ...key,
    kind: 'SetupFailed',
    exitCode: 1,
    signal: null,
    line: { number: 2, text: 'false\r\n\u001b[31m' },
    detail: null,
  },
  TaskPrepared: { ...key, rank: 1, kind: 'TaskPrepared', address: '10.0.0.1', port: 4000 },
  JobStarted: { ...key, kind: 'JobStarted', port: null },
  EndpointOpened: { ...key, kind: 'EndpointOpened', endpoint: '10.0.0.1:4000' },
  ReadinessChanged: { ...key, kind: 'ReadinessChanged', ready: false, reason: 'port 4000 refused' },
  Restarted: { ...key, kind: 'Restarted', restarts: 2, lastFailure: 'exited with code 1' },
  JobExited: { ...key, kind: 'JobExited', exitCode: null, signal: 9, detail: 'out of memory' },
  TimedOut: { ...key, kind: 'TimedOut', timeoutMs: 90_000 },
  GaveUp: { ...key, kind: 'GaveUp', message: 'restarted 3 times' },
  OutputsCollected: {
    ...key,
    kind: 'OutputsCollected',
    outputs: [output, { ...output, state: 'missing' }],
    manifest: null,
    exitCode: 0,
    signal: null,
  },
  NodeFault: { ...key, kind: 'NodeFault', message: 'its disk failed', held: true },
  NodeLost: { ...key, kind: 'NodeLost', message: 'the host rebooted', held: false },
  OperatorStop: {
    kind: 'OperatorStop',
    job: 'j-1',
    indices: [3, 4],
    by: 'ada',
    graceMs: 30_000,
    message: 'stopped by ada',
  },
  Evicted: { kind: 'Evicted', job: 'j-1', index: 0, attempt: 1, message: 'node n1 had to be empty by now' },
  Unschedulable: { kind: 'Unschedulable', job: 'j-1', message: 'no node has a GPU' },
  AttemptEnded: { kind: 'AttemptEnded', job: 'j-1', index: 0, attempt: 1, outcome, retryAtMs: 5 },
  RetryRequested: { kind: 'RetryRequested', job: 'j-1', index: 0, attempt: 1, by: 'ada' },
  JobEnded: { kind: 'JobEnded', job: 'j-1', outcome },
  JobArchived: { kind: 'JobArchived', job: 'j-1' },
  NodeJoined: {
    kind: 'NodeJoined',
    node: 'n1',
    instance: 'i',
    bootId: 'b',
    capacity: capacityOf(),
    advertise: '127.0.0.1',
    platform: 'linux',
    version: '0.1.0',
    leased: false,
  },
  NodeLeft: { kind: 'NodeLeft', node: 'n1', instance: 'i' },
  NodeSuspected: { kind: 'NodeSuspected', node: 'n1' },
  NodeResponded: { kind: 'NodeResponded', node: 'n1' },
  NodeDeclaredLost: { kind: 'NodeDeclaredLost', node: 'n1', by: null },
  LossHeld: { kind: 'LossHeld', silent: 3, of: 8 },
  LossReleased: { kind: 'LossReleased' },
  NodeDrained: { kind: 'NodeDrained', node: 'n1', reason: 'new disk', by: 'ada', deadlineAtMs: null },
  NodeResumed: { kind: 'NodeResumed', node: 'n1', by: 'ada' },
  NodeRemoved: { kind: 'NodeRemoved', node: 'n1', by: 'ada' },
  AllocationReleased: { kind: 'AllocationReleased', node: 'n1', task: 'j-1.0.0.1' },
  NodeSecretsChanged: { kind: 'NodeSecretsChanged', node: 'n1', secrets: ['hf', 'wandb'] },
  SecretSet: { kind: 'SecretSet', project: 'default', name: 'hf', boxes: { key: 'box' }, by: 'ada' },
  SecretShared: { kind: 'SecretShared', project: 'default', name: 'hf', boxes: { other: 'box' }, node: 'n1' },
  SecretRemoved: { kind: 'SecretRemoved', project: 'default', name: 'hf', by: 'ada' },
  ServiceApplied: {
    kind: 'ServiceApplied',
    service: 's',
    project: 'default',
    owner: 'ada',
    revision: {
      number: 1,
      spec: specOf(),
      source: {},
      settings: builtInSettings,
      origins: {},
      profile: null,
      workspace: null,
    },
    desired: 2,
    by: 'ada',
  },
  ServiceScaled: { kind: 'ServiceScaled', service: 's', desired: 1, remove: ['j-1'], by: 'ada' },
  ServiceStarted: { kind: 'ServiceStarted', service: 's', by: 'ada' },
  ServiceStopped: { kind: 'ServiceStopped', service: 's', by: 'ada' },
  ServiceCompleted: { kind: 'ServiceCompleted', service: 's' },
  ServiceRemoved: { kind: 'ServiceRemoved', service: 's', by: 'ada' },
  RolloutStarted: { kind: 'RolloutStarted', service: 's', from: 1, to: 2, deadlineAtMs: 9 },
  RolloutAdvanced: { kind: 'RolloutAdvanced', service: 's', updated: 1, deadlineAtMs: 9 },
  RolloutPaused: { kind: 'RolloutPaused', service: 's', by: 'ada' },
  RolloutResumed: { kind: 'RolloutResumed', service: 's', by: 'ada', deadlineAtMs: 9 },
  RolloutEnded: { kind: 'RolloutEnded', service: 's', state: 'failed', reason: 'no capacity' },
  ReplacementDelayed: { kind: 'ReplacementDelayed', service: 's', failures: 2, untilMs: 9, reason: 's-1 ended' },
  ServiceSettled: { kind: 'ServiceSettled', service: 's' },
  ReplicaDismissed: { kind: 'ReplicaDismissed', service: 's', job: 'j-1', reason: 'scaled to 1' },
  ProjectCreated: {
    kind: 'ProjectCreated',
    project: 'ml',
    quota: { replicas: 8, gpus: null, cores: null, queued: null },
    everyone: null,
    by: 'ada',
  },
  ProjectChanged: {
    kind: 'ProjectChanged',
    project: 'ml',
    quota: { replicas: null, gpus: null, cores: null, queued: null },
    everyone: 'viewer',
    by: 'ada',
  },
  ProjectRemoved: { kind: 'ProjectRemoved', project: 'ml', by: 'ada' },
  RoleGranted: { kind: 'RoleGranted', project: 'ml', user: 'bob', role: 'member', by: 'ada' },
  RoleRevoked: { kind: 'RoleRevoked', project: 'ml', user: 'bob', by: 'ada' },
  TokenCreated: {
    kind: 'TokenCreated',
    token: {
      kind: 'user',
      id: 'k3f9q2',
      user: 'bob',
      hash: 'f'.repeat(64),
      createdAtMs: 1,
      expiresAtMs: null,
      project: null,
      admin: false,
    },
    by: 'ada',
  },
  TokenRevoked: { kind: 'TokenRevoked', token: 'k3f9q2', by: 'ada' },
  NodeAdmitted: { kind: 'NodeAdmitted', node: 'n1', token: 'k3f9q3', keyHash: 'f'.repeat(64) },
  AccessRefused: {
    kind: 'AccessRefused',
    who: 'user bob',
    action: 'StopJob',
    subject: 'j-1',
    code: 'FORBIDDEN',
    times: 3,
  },
  ProfileApplied: { kind: 'ProfileApplied', name: 'big', revision: 2, values: {}, source: null, by: 'ada' },
};

describe('facts', () => {
  it('are listed: every kind there is, each once, and no other', () => {
    expect(nothingMissing).toBe(true);
    expect([...factKinds].sort()).toEqual(Object.keys(samples).sort());
  });

  it('have each a line of their own for a person, without control characters [S10] [R4.38]', () => {
    const lines = Object.values(samples).map(describeFact);
    for (const line of lines) expect(line).toMatch(/^[^\p{Cc}\u2028\u2029]{5,200}$/u);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it('read as sentences [S10]', () => {
    const shown = (
      [
        'JobSubmitted',
        'AttemptPlaced',
        'SetupFailed',
        'JobExited',
        'OperatorStop',
        'OutputsCollected',
        'NodeFault',
        'TaskPrepared',
      ] as const
    ).map((kind) => describeFact(samples[kind]));
    expect(shown).toEqual([
      'j-1 submitted by ada, an array of 9, a retry of j-0',
      'attempt 2 of j-1/4 placed on n1 with GPU-1 and GPU-2',
      'attempt 1 of j-1 failed in setup: exited with code 1 at line 2: false [31m',
      'attempt 1 of j-1 killed by signal 9: out of memory',
      'j-1/3,4 is to stop: stopped by ada, 30 s of grace',
      'attempt 1 of j-1 has its outputs collected: 1 of 2',
      'attempt 1 of j-1 was failed by its node: its disk failed; processes of it may still run',
      'attempt 1 of j-1 rank 1 is prepared at 10.0.0.1:4000',
    ]);
  });

  it('say which job and node they are about [S10]', () => {
    for (const fact of Object.values(samples)) {
      const { job, node } = factSubject(fact);
      const about = 'job' in fact || fact.kind === 'AllocationReleased' ? 'j-1' : null;
      expect(`${fact.kind} ${job}`).toBe(`${fact.kind} ${about}`);
      const namesNode = 'node' in fact || fact.kind === 'AttemptPlaced';
      expect(`${fact.kind} ${node}`).toBe(`${fact.kind} ${namesNode ? 'n1' : null}`);
    }
  });

  it('about what is gone change nothing and nothing follows: folding is total [I6] [I13]', () => {
    const makes = [
      'JobSubmitted',
      'NodeJoined',
      'ProfileApplied',
      'ServiceApplied',
      'ProjectCreated',
      'TokenCreated',
      'NodeAdmitted',
      'LossHeld',
      'SecretSet',
    ];
    for (const fact of Object.values(samples)) {
      if (makes.includes(fact.kind)) continue;
      const state = emptyState();
      const before = toRecords(state);
      evolve(state, fact, contextAt(0));
      expect(toRecords(state)).toEqual(before);
      expect(follow(state, fact, 0)).toEqual([]);
    }
  });

  it('about another attempt than the current one leave it as it is [I14]', () => {
    const at = new Scenario();
    at.join('n9');
    const id = at.submit();
    const before = toRecords(at.state);
    for (const fact of Object.values(samples)) {
      if (!('rank' in fact) && fact.kind !== 'AttemptEnded') continue;
      evolve(at.state, { ...fact, job: id, attempt: 7 }, contextAt(0));
      expect(toRecords(at.state)).toEqual(before);
    }
  });
});
