import { describe, expect, it } from 'vitest';
import { noQuota, type Quota } from '../../core/access/access.ts';
import type { Fact } from '../../core/fact.ts';
import { checkers } from './all.ts';
import { check } from './checker.ts';
import { broken, history, joined, placed, submitted } from './histories.testsuite.ts';

const userToken = {
  ...({ kind: 'user', id: 'user1n0', user: 'user1', hash: '', createdAtMs: 0 } as const),
  ...{ expiresAtMs: null, project: null, admin: false },
};
const granted = { kind: 'RoleGranted', project: 'p1', user: 'user1', role: 'member', by: 'x' } as const;
const submittedByUser = { ...submitted('a-1'), project: 'p1', owner: 'user1' } as Fact;
const stoppedByUser = {
  ...({ kind: 'OperatorStop', job: 'a-1', indices: null, by: 'user1', graceMs: 0, message: '' } as const),
};
const projectOf = (quota: Partial<Quota>): Fact => ({
  ...({ kind: 'ProjectCreated', project: 'p1', everyone: null, by: 'x' } as const),
  quota: { ...noQuota, ...quota },
});

describe('the checkers of access', () => {
  it.each([
    ['has no role in the project', [], { ...userToken }],
    ['was a member until then', [granted, { kind: 'RoleRevoked', project: 'p1', user: 'user1', by: 'x' }], userToken],
    ['has a token for another project', [granted], { ...userToken, project: 'p2' }],
    ['has a token that is over', [granted], { ...userToken, expiresAtMs: 1 }],
  ] as const)('find a submission of who %s [X29]', (_what, roles, token) => {
    const facts: readonly Fact[] = [projectOf({}), { kind: 'TokenCreated', token, by: 'x' }, ...roles, submittedByUser];
    expect(broken(history(facts))).toContain('X29');
  });

  it('find nothing in what a member submits, and a token that was revoked by then [X29]', () => {
    const created: Fact = { kind: 'TokenCreated', token: userToken, by: 'x' };
    const good: readonly Fact[] = [projectOf({}), created, granted];
    expect(broken(history([...good, submittedByUser]))).not.toContain('X29');
    const revoked: Fact = { kind: 'TokenRevoked', token: userToken.id, by: 'x' };
    expect(broken(history([...good, revoked, submittedByUser]))).toContain('X29');
  });

  it.each([
    ['a project', { kind: 'ProjectCreated', project: 'p3', quota: noQuota, everyone: null, by: 'user1' }],
    ['a role', { ...granted, by: 'user1' }],
    ['a token of somebody else', { kind: 'TokenCreated', token: { ...userToken, user: 'user2' }, by: 'user1' }],
    ['a token of an administrator', { kind: 'TokenCreated', token: { ...userToken, admin: true }, by: 'user1' }],
    ['a stop of the work of others', { ...stoppedByUser }],
  ] as const satisfies readonly (readonly [string, Fact])[])('find %s by who may not [X29]', (_what, fact) => {
    const created: Fact = { kind: 'TokenCreated', token: userToken, by: 'x' };
    const facts = [projectOf({}), created, granted, { ...submittedByUser, owner: 'user2' } as Fact, fact];
    expect(check(history(facts), checkers).filter((one) => one.includes(`fact ${facts.length}`))).not.toEqual([]);
  });

  it('find what is given to a project beyond its quota [X29]', () => {
    const facts = (cores: number) => [joined, projectOf({ cores }), submittedByUser, placed('a-1', { cpus: 2 })];
    expect(check(history(facts(1)), checkers).join()).toContain('was given 2 of 1 cores');
    expect(check(history(facts(2)), checkers).join()).not.toContain('cores');
  });
});
