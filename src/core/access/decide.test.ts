import { describe, expect, it } from 'vitest';
import { submission } from '../scenario.testsuite.ts';
import { applying } from '../service/service-scenario.testsuite.ts';
import { AccessScenario, creating, someHash } from './access-scenario.testsuite.ts';
import type { CreateJoinToken, UseJoinToken } from './command.ts';

const by = 'root';
const project = (name: string) => ({ kind: 'CreateProject', project: name, quota: {}, by }) as const;
const grant = (user: string, role = 'member') =>
  ({ kind: 'GrantRole', project: 'ml', user, role: role as 'member', by }) as const;

describe('projects', () => {
  it('are created, given limits, and changed in what is named only [X29]', () => {
    const at = new AccessScenario();
    at.do({ ...project('ml'), quota: { gpus: 16 } });
    at.do({ kind: 'ChangeProject', project: 'ml', quota: { queued: 5 }, by });
    at.do({ kind: 'ChangeProject', project: 'ml', quota: { gpus: null }, everyone: 'viewer', by });
    expect(at.state.access.projects.get('ml')).toMatchObject({
      quota: { replicas: null, gpus: null, cores: null, queued: 5 },
      everyone: 'viewer',
    });
    const before = at.facts.length;
    at.do({ kind: 'ChangeProject', project: 'ml', quota: { queued: 5 }, everyone: 'viewer', by });
    expect(at.kinds(before)).toEqual([]);
  });

  it('are refused with a name, a limit, a role or a user that cannot be [R4.9] [R4.13] [I26]', () => {
    const at = new AccessScenario();
    at.do(project('ml'));
    const refused: readonly (readonly [Parameters<AccessScenario['refused']>[0], string])[] = [
      [project('Ml'), 'BAD_NAME'],
      [project('ml'), 'WRONG_STATE'],
      [{ ...project('web'), quota: { gpus: -1 } }, 'RANGE'],
      [{ ...project('web'), quota: { queued: 1.5 } }, 'RANGE'],
      [{ ...project('web'), quota: { replicas: Number.NaN } }, 'RANGE'],
      [{ ...project('web'), quota: { cores: 1e9 } }, 'RANGE'],
      [{ kind: 'ChangeProject', project: 'web', quota: {}, by }, 'NOT_FOUND'],
      [{ kind: 'RemoveProject', project: 'web', by }, 'NOT_FOUND'],
      [{ kind: 'RemoveProject', project: 'default', by }, 'WRONG_STATE'],
      [grant('Ada'), 'BAD_NAME'],
      [grant('аda'), 'BAD_NAME'],
      [grant('a'.repeat(65)), 'BAD_NAME'],
      [grant('a'.repeat(10_000_000)), 'BAD_NAME'],
      [grant('a b'), 'BAD_NAME'],
      [grant('ada', 'king'), 'BAD_VALUE'],
      [{ kind: 'RevokeRole', project: 'ml', user: 'ada', by }, 'NOT_FOUND'],
      [submission('new', {}, {}, { project: 'web' }), 'NOT_FOUND'],
      [{ ...applying(), project: 'web' }, 'NOT_FOUND'],
    ];
    for (const [command, code] of refused) {
      const refusal = at.refused(command);
      expect(`${refusal.message}: ${refusal.code}`).toBe(`${refusal.message}: ${code}`);
      expect(refusal.message.length).toBeLessThan(200);
    }
  });

  it.each(['a', 'ada', 'ada.l@example.org', 'x_1-2', 'a'.repeat(64)])('take user %s', (user) => {
    const at = new AccessScenario();
    at.do(project('ml'));
    at.do(grant(user));
    expect(at.state.access.projects.get('ml')?.members.get(user)).toBe('member');
    at.do({ kind: 'RevokeRole', project: 'ml', user, by });
    expect(at.state.access.projects.get('ml')?.members.size).toBe(0);
  });

  it('are removed when nothing of them is left, and their tokens with them', () => {
    const at = new AccessScenario(['n1', 0]);
    const ada = at.user('ada', { ml: 'member' }, { project: null });
    at.do(project('web'));
    at.do({ ...creating('scoped', 'ada'), project: 'ml' });
    at.do(submission('one', {}, {}, { project: 'ml' }));
    at.do({ ...applying(), project: 'ml' });
    const remove = { kind: 'RemoveProject', project: 'ml', by } as const;
    expect(at.refused(remove).message).toBe('project ml has 2 jobs that have not ended, and 1 services');
    at.say('RemoveService');
    at.do({ kind: 'StopJob', job: 'one', indices: null, by, graceMs: null });
    for (const job of at.state.jobs.keys()) {
      at.report(at.key(job), { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: 15 });
    }
    at.do(remove);
    expect([...at.state.access.projects.keys()]).toEqual(['default', 'web']);
    expect([...at.state.access.tokens.keys()]).toEqual([ada.token]);
  });
});

describe('tokens', () => {
  it('are refused with what cannot be [R4.10] [R4.13] [I26]', () => {
    const at = new AccessScenario();
    at.do(creating('known1', 'ada'));
    const one = creating('fresh1', 'ada');
    const join: CreateJoinToken = {
      kind: 'CreateJoinToken',
      token: 'fresh1',
      hash: someHash,
      lifetimeMs: 60_000,
      node: null,
      by,
    };
    expect(at.refused({ ...one, token: 'known1' }).code).toBe('ID_TAKEN');
    expect(at.refused({ ...one, token: '../x' }).code).toBe('BAD_VALUE');
    expect(at.refused({ ...one, hash: 'secret' }).code).toBe('BAD_VALUE');
    expect(at.refused({ ...one, user: 'Ada' }).code).toBe('BAD_NAME');
    expect(at.refused({ ...one, lifetimeMs: 0 }).code).toBe('RANGE');
    expect(at.refused({ ...one, lifetimeMs: 1e15 }).code).toBe('RANGE');
    expect(at.refused({ ...one, project: 'web' }).code).toBe('NOT_FOUND');
    expect(at.refused({ ...one, admin: true, project: 'default' }).code).toBe('BAD_VALUE');
    expect(at.refused({ ...join, lifetimeMs: 31 * 86_400_000 }).code).toBe('RANGE');
    expect(at.refused({ ...join, node: 'N1' }).code).toBe('BAD_NAME');
    expect(at.refused({ kind: 'RevokeToken', token: 'other1', by }).code).toBe('NOT_FOUND');
  });

  it('of users make no more than they are: for themselves, within their project and their time [X29]', () => {
    const at = new AccessScenario();
    const ada = at.user('ada', { ml: 'admin' }, { lifetimeMs: 3_600_000, project: 'ml' });
    const one = { ...creating('fresh1', 'ada'), by: 'ada', project: 'ml', lifetimeMs: 60_000 };
    expect(at.refusedAs(ada, { ...one, user: 'eve' }).code).toBe('FORBIDDEN');
    expect(at.refusedAs(ada, { ...one, admin: true, project: null }).code).toBe('FORBIDDEN');
    expect(at.refusedAs(ada, { ...one, project: null }).code).toBe('FORBIDDEN');
    expect(at.refusedAs(ada, { ...one, lifetimeMs: null }).code).toBe('FORBIDDEN');
    expect(at.refusedAs(ada, { ...one, lifetimeMs: 3_600_001 }).code).toBe('FORBIDDEN');
    at.doAs(ada, one);
    at.doAs(ada, { kind: 'RevokeToken', token: 'fresh1', by: 'ada' });
    expect(at.refusedAs(ada, { kind: 'RevokeToken', token: at.user('eve').token, by: 'ada' }).code).toBe('NOT_FOUND');
  });

  it('that are over leave the state when the next is made: sign-ins do not pile up', () => {
    const at = new AccessScenario();
    for (let day = 0; day < 100; day += 1) {
      at.user('ada', {}, { lifetimeMs: 86_400_000 });
      at.pass(86_400_000);
    }
    expect(at.state.access.tokens.size).toBe(1);
  });
});

describe('a join token', () => {
  const use: UseJoinToken = { kind: 'UseJoinToken', token: 'join01', node: 'n1', keyHash: someHash };
  const make = (at: AccessScenario, token: string, node: string | null = null): void => {
    at.do({ kind: 'CreateJoinToken', token, hash: someHash, lifetimeMs: 60_000, node, by });
  };

  it('lets in one node, though two use it in the same commit [X29] [R4.23]', () => {
    const at = new AccessScenario();
    make(at, 'join01');
    const { answers } = at.step(use, { ...use, node: 'n2' });
    expect(answers).toMatchObject([{ kind: 'done' }, { code: 'UNAUTHORIZED' }]);
    expect([...at.state.access.nodeKeys.keys()]).toEqual(['n1']);
  });

  it('changes nothing when the same node asks again because the answer was lost [I3]', () => {
    const at = new AccessScenario();
    make(at, 'join01');
    at.do(use);
    const before = at.facts.length;
    at.do(use);
    expect(at.kinds(before)).toEqual([]);
    expect(at.refused({ ...use, keyHash: 'e'.repeat(64) }).code).toBe('UNAUTHORIZED');
  });

  it('expires, is kept to its node, and takes the name of no other node [R4.23]', () => {
    const at = new AccessScenario(['here', 0]);
    make(at, 'join01', 'n1');
    make(at, 'join02');
    expect(at.refused({ ...use, node: 'n2' }).code).toBe('FORBIDDEN');
    expect(at.refused({ ...use, token: 'join02', node: 'here' }).code).toBe('NODE_TAKEN');
    expect(at.refused({ ...use, node: '../x' }).code).toBe('BAD_NAME');
    expect(at.refused({ ...use, keyHash: 'short' }).code).toBe('BAD_VALUE');
    at.do(use);
    expect(at.refused({ ...use, token: 'join02' }).code).toBe('NODE_TAKEN');
    at.pass(60_000);
    expect(at.refused({ ...use, token: 'join02', node: 'n2' }).code).toBe('UNAUTHORIZED');
  });

  it('for a known node gives it a new key; removing the node takes its key away', () => {
    const at = new AccessScenario();
    make(at, 'join01');
    at.do(use);
    at.join('n1');
    make(at, 'join02', 'n1');
    at.do({ ...use, token: 'join02', keyHash: 'e'.repeat(64) });
    expect(at.state.access.nodeKeys.get('n1')).toMatchObject({ hash: 'e'.repeat(64), token: 'join02' });
    at.leave('n1');
    at.do({ kind: 'RemoveNode', node: 'n1', by });
    expect(at.state.access.nodeKeys.size).toBe(0);
  });
});
