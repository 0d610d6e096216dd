import { describe, expect, it } from 'vitest';
import type { Command } from '../command.ts';
import { submission } from '../scenario.testsuite.ts';
import { applying } from '../service/service-scenario.testsuite.ts';
import { AccessScenario, creating, someHash } from './access-scenario.testsuite.ts';
import { authorize, authorizeAction, roleIn } from './authorize.ts';
import { actions, permissions } from './permissions.ts';
import { isAtLeast, type Principal, type Role, roles } from './principal.ts';

const by = 'ada';
const hash = someHash;

/** One command of each kind, sent by ada, about job `mine` or service `llm` of project ml. */
const samples: { readonly [Kind in Command['kind']]: Extract<Command, { kind: Kind }> } = {
  SubmitJob: submission('new', {}, {}, { project: 'ml', owner: by }),
  StopJob: { kind: 'StopJob', job: 'mine', indices: null, by, graceMs: null },
  RetryTask: { kind: 'RetryTask', job: 'mine', index: null, by },
  FailUnschedulable: { kind: 'FailUnschedulable', job: 'mine', message: 'no' },
  ApplyService: { ...applying(), project: 'ml', owner: by },
  ScaleService: { kind: 'ScaleService', service: 'llm', desired: 2, remove: [], by },
  RestartService: { kind: 'RestartService', service: 'llm', by },
  StopService: { kind: 'StopService', service: 'llm', by },
  RemoveService: { kind: 'RemoveService', service: 'llm', by },
  PauseRollout: { kind: 'PauseRollout', service: 'llm', by },
  ResumeRollout: { kind: 'ResumeRollout', service: 'llm', by },
  UndoRollout: { kind: 'UndoRollout', service: 'llm', to: null, by },
  SetSecret: { kind: 'SetSecret', project: 'ml', name: 'hf', boxes: {}, by },
  RemoveSecret: { kind: 'RemoveSecret', project: 'ml', name: 'hf', by },
  ApplyProfile: { kind: 'ApplyProfile', name: 'big', values: {}, source: null, by },
  JoinNode: {
    kind: 'JoinNode',
    node: 'n1',
    instance: 'i',
    bootId: 'b',
    capacity: { cpus: 1, memoryMiB: 1, gpus: [], labels: {} },
    advertise: '127.0.0.1',
    platform: 'linux',
    version: '0.1.0',
    inventory: [],
    leased: true,
    wallMs: null,
  },
  NodeHeard: { kind: 'NodeHeard', node: 'n1', instance: 'i' },
  LeaveNode: { kind: 'LeaveNode', node: 'n1', instance: 'i' },
  NodeReport: { kind: 'NodeReport', node: 'n1', instance: 'i', events: [], released: [] },
  UseJoinToken: { kind: 'UseJoinToken', token: 'join01', node: 'n1', keyHash: hash },
  DrainNode: { kind: 'DrainNode', node: 'n1', reason: 'disk', by, deadlineMs: null },
  ResumeNode: { kind: 'ResumeNode', node: 'n1', by },
  RemoveNode: { kind: 'RemoveNode', node: 'n1', by },
  CreateProject: { kind: 'CreateProject', project: 'new', quota: {}, by },
  ChangeProject: { kind: 'ChangeProject', project: 'ml', quota: { gpus: 1 }, by },
  RemoveProject: { kind: 'RemoveProject', project: 'ml', by },
  GrantRole: { kind: 'GrantRole', project: 'ml', user: 'eve', role: 'admin', by },
  RevokeRole: { kind: 'RevokeRole', project: 'ml', user: 'bob', by },
  CreateToken: { ...creating('fresh1', 'bob'), by },
  CreateJoinToken: { kind: 'CreateJoinToken', token: 'fresh1', hash, lifetimeMs: 60_000, node: null, by },
  RevokeToken: { kind: 'RevokeToken', token: 'token1', by },
  RecordRefusal: {
    kind: 'RecordRefusal',
    who: 'user bob',
    action: 'StopJob',
    subject: null,
    code: 'FORBIDDEN',
    times: 1,
  },
  CheckLeases: { kind: 'CheckLeases', nodes: [] },
  Tick: { kind: 'Tick' },
};

const kinds = Object.keys(samples) as Command['kind'][];
const nobody = 'nobody';
const work = ['StopJob', 'RetryTask', 'FailUnschedulable', 'ApplyService', 'ScaleService', 'RestartService'].concat([
  'StopService',
  'RemoveService',
  'PauseRollout',
  'ResumeRollout',
  'UndoRollout',
]);

/** Written down once more, apart from the table: the least role in project ml, for one's own work and that of others. */
function leastRole(kind: Command['kind'], isOwn: boolean): Role | typeof nobody {
  if (work.includes(kind)) return isOwn ? 'member' : 'operator';
  if (kind === 'SubmitJob' || kind === 'SetSecret' || kind === 'RemoveSecret') return 'member';
  if (kind === 'ApplyProfile') return 'operator';
  if (kind === 'GrantRole' || kind === 'RevokeRole') return 'admin';
  return nobody;
}

/** Project ml with a job and a service of `owner`, and bob, who is a viewer of it. */
function scene(owner: string): AccessScenario {
  const at = new AccessScenario(['n1', 0]);
  at.user('bob', { ml: 'viewer' });
  at.do(submission('mine', {}, {}, { project: 'ml', owner }));
  at.do({ ...applying(), project: 'ml', owner });
  return at;
}

describe('what may be asked', () => {
  it.each(kinds)(
    '%s is done by nobody whose role is below what it needs, and by everybody else [X29] [G11]',
    (kind) => {
      for (const owner of ['ada', 'zoe']) {
        for (const role of [null, ...roles]) {
          const at = scene(owner);
          const ada = at.user('ada', role === null ? {} : { ml: role });
          const least = leastRole(kind, owner === 'ada');
          const mayDo = least !== nobody && isAtLeast(role, least);
          const refusal = authorize(at.state, ada, samples[kind], at.nowMs);
          expect(`${kind} of ${owner} by ${role}: ${refusal === null}`).toBe(
            `${kind} of ${owner} by ${role}: ${mayDo}`,
          );
        }
      }
    },
  );

  it.each(kinds)(
    '%s is refused to whoever has no role there as if it were not there, never otherwise [X29]',
    (kind) => {
      const at = scene('zoe');
      const ada = at.user('ada');
      const { of } = permissions[kind];
      const refusal = authorize(at.state, ada, samples[kind], at.nowMs);
      const hides = kind !== 'ApplyService' && (of === 'job' || of === 'service' || of === 'project');
      const code = kind === 'RevokeToken' || hides || kind === 'ApplyService' ? 'NOT_FOUND' : 'FORBIDDEN';
      expect(refusal?.code).toBe(code);
      if (!hides) return;
      // Word for word as where there is nothing at all.
      const nothing = new AccessScenario();
      expect(authorize(nothing.state, nothing.user('ada'), samples[kind], 0)).toEqual(refusal);
    },
  );

  it.each(kinds)(
    "%s is done by an administrator's token, unless nodes or the control plane alone send it [X29]",
    (kind) => {
      const at = scene('zoe');
      const ada = at.user('ada', {}, { admin: true });
      const { of } = permissions[kind];
      const refusal = authorize(at.state, ada, samples[kind], at.nowMs);
      expect(refusal?.code ?? 'done').toBe(of === 'node' || of === 'system' ? 'FORBIDDEN' : 'done');
    },
  );

  it.each(kinds)('%s is done for the operating-system user of an embedded home [G8]', (kind) => {
    expect(authorize(scene('zoe').state, { kind: 'local', name: 'root' }, samples[kind], 0)).toBeNull();
  });

  it.each(kinds)('%s is sent by a node only where it speaks for itself [R4.27] [I14]', (kind) => {
    const at = scene('ada');
    const admit = { kind: 'CreateJoinToken', token: 'join02', hash, lifetimeMs: 60_000, node: 'n1', by } as const;
    at.do(admit);
    at.do({ kind: 'UseJoinToken', token: 'join02', node: 'n1', keyHash: hash });
    const speaks = ['JoinNode', 'NodeHeard', 'LeaveNode', 'NodeReport', 'UseJoinToken'].includes(kind);
    const asItself = authorize(at.state, { kind: 'node', name: 'n1' }, samples[kind], 0);
    expect(asItself === null).toBe(speaks);
    expect(authorize(at.state, { kind: 'node', name: 'n2' }, samples[kind], 0)?.code).toBe('FORBIDDEN');
    at.state.access.nodeKeys.delete('n1');
    const removed = authorize(at.state, { kind: 'node', name: 'n1' }, samples[kind], 0);
    expect(removed?.code ?? 'done').toBe(kind === 'UseJoinToken' ? 'done' : speaks ? 'UNAUTHORIZED' : 'FORBIDDEN');
  });

  it('tells whoever may see it, and may not change it, which role that needs', () => {
    const at = scene('zoe');
    const ada = at.user('ada', { ml: 'member' });
    expect(at.refusedAs(ada, samples.StopJob)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'job mine of zoe needs the role operator in project ml, and ada is member there',
    });
    expect(at.refusedAs(at.user('eve'), { ...samples.SubmitJob, owner: 'eve' })).toMatchObject({
      code: 'NOT_FOUND',
      message: 'there is no project "ml"',
      hint: 'there are: default',
    });
  });

  it('is asked under the lock: what was revoked a moment ago in the same commit is gone [X29]', () => {
    const at = scene('ada');
    const ada = at.user('ada', { ml: 'admin' });
    const revoke = { kind: 'RevokeRole', project: 'ml', user: 'ada', by: 'ada' } as const;
    const { answers } = at.stepAs(ada, revoke, samples.StopJob);
    expect(answers).toMatchObject([{ kind: 'done' }, { code: 'NOT_FOUND' }]);
  });

  it('is refused once the token has expired or was revoked, and to a token of somebody else [R4.23]', () => {
    const at = scene('ada');
    const ada = at.user('ada', { ml: 'member' }, { lifetimeMs: 60_000 });
    expect(authorize(at.state, ada, samples.StopJob, 59_999)).toBeNull();
    expect(authorize(at.state, ada, samples.StopJob, 60_000)?.code).toBe('UNAUTHORIZED');
    expect(authorize(at.state, { ...ada, name: 'eve' }, samples.StopJob, 0)?.code).toBe('UNAUTHORIZED');
    at.do({ kind: 'RevokeToken', token: ada.token, by: 'root' });
    expect(authorize(at.state, ada, samples.StopJob, 0)?.code).toBe('UNAUTHORIZED');
    expect(authorizeAction(at.state, ada, 'read', { project: 'ml', owner: 'ada', what: 'job mine' })?.code).toBe(
      'UNAUTHORIZED',
    );
  });

  it('is never asked in the name of somebody else [X29]', () => {
    const at = scene('ada');
    const eve = at.user('eve', { ml: 'admin' });
    expect(at.refusedAs(eve, samples.StopJob)).toMatchObject({
      code: 'FORBIDDEN',
      message: 'eve cannot speak for ada',
    });
    expect(at.refusedAs(eve, samples.SubmitJob).code).toBe('FORBIDDEN');
  });

  it("keeps a project's token to its project [X29]", () => {
    const at = scene('ada');
    const ada = at.user('ada', { ml: 'admin', web: 'admin' }, { project: 'web' });
    expect(roleIn(at.state, ada, 'web')).toBe('admin');
    expect(roleIn(at.state, ada, 'ml')).toBeNull();
    expect(roleIn(at.state, ada, 'default')).toBeNull();
    expect(at.refusedAs(ada, samples.StopJob).code).toBe('NOT_FOUND');
  });

  it('makes every user a member of the default project, unless that is changed', () => {
    const at = new AccessScenario(['n1', 0]);
    const ada = at.user('ada');
    expect(roleIn(at.state, ada, 'default')).toBe('member');
    at.do({ kind: 'GrantRole', project: 'default', user: 'ada', role: 'viewer', by: 'root' });
    expect(at.refusedAs(ada, submission('new', {}, {}, { owner: 'ada' })).code).toBe('FORBIDDEN');
    at.do({ kind: 'RevokeRole', project: 'default', user: 'ada', by: 'root' });
    at.do({ kind: 'ChangeProject', project: 'default', quota: {}, everyone: null, by: 'root' });
    expect(at.refusedAs(ada, submission('new', {}, {}, { owner: 'ada' })).code).toBe('NOT_FOUND');
  });

  it("lets an operator apply a new version of another's service, which stays its owner's and its project's", () => {
    const at = scene('zoe');
    const ada = at.user('ada', { ml: 'operator', web: 'operator' });
    at.doAs(ada, { ...applying({}, { run: 'serve --new' }), project: 'ml', owner: 'ada' });
    expect(at.service).toMatchObject({ owner: 'zoe', project: 'ml', revision: 2 });
    expect(at.refusedAs(ada, { ...applying(), project: 'web', owner: 'ada' })).toMatchObject({ code: 'WRONG_STATE' });
    const eve = at.user('eve', { web: 'admin' });
    expect(at.refusedAs(eve, { ...applying(), project: 'web', owner: 'eve' })).toMatchObject({
      code: 'FORBIDDEN',
      message: 'another project has a service "llm" already',
    });
  });
});

describe('what is done without a command', () => {
  const reads = Object.keys(actions) as (keyof typeof actions)[];

  it.each(reads)(
    '%s: viewers read, members run commands beside their own, administrators see the rest [X29]',
    (action) => {
      for (const owner of ['ada', 'zoe']) {
        for (const role of [null, ...roles]) {
          const at = scene(owner);
          const ada = at.user('ada', role === null ? {} : { ml: role });
          const isForAll = action === 'read-audit' || action === 'prune';
          const least: Role = action === 'exec' ? (owner === 'ada' ? 'member' : 'operator') : 'viewer';
          const mayDo = !isForAll && isAtLeast(role, least);
          const refusal = authorizeAction(at.state, ada, action, { project: 'ml', owner, what: 'job mine' });
          expect(`${role} ${owner} ${refusal === null}`).toBe(`${role} ${owner} ${mayDo}`);
          if (role === null && !isForAll) expect(refusal?.code).toBe('NOT_FOUND');
        }
      }
      const at = scene('zoe');
      const everyone: readonly (readonly [Principal, boolean])[] = [
        [at.user('root', {}, { admin: true }), true],
        [{ kind: 'local', name: 'root' }, true],
        [{ kind: 'node', name: 'n1' }, false],
      ];
      for (const [actor, mayDo] of everyone) {
        const refusal = authorizeAction(at.state, actor, action, { project: 'ml', owner: 'zoe', what: 'job mine' });
        expect(refusal === null).toBe(mayDo);
      }
    },
  );
});
