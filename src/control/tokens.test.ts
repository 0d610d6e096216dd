import { describe, expect, it } from 'vitest';
import { AccessScenario, creating } from '../core/access/access-scenario.testsuite.ts';
import { createNodeChance } from '../host/node/chance.ts';
import { createNodeDigests } from '../host/node/digests.ts';
import { drawToken, hashSecret, type Presented, verify } from './tokens.ts';

const digests = createNodeDigests();
const chance = createNodeChance();
const at = (nowMs: number) => ({ nowMs, digests });

function presented(text: string): Presented {
  const [prefix, id = '', secret = ''] = text.split('_');
  return { kind: prefix === 'yt' ? 'user' : 'join', id, secret };
}

/** A user by a token that lasts a minute, and a join token. */
function scene() {
  const scenario = new AccessScenario();
  const user = drawToken('user', chance, digests);
  const join = drawToken('join', chance, digests);
  scenario.do({ ...creating(user.id, 'ada'), hash: user.hash, lifetimeMs: 60_000 });
  const lifetimeMs = 60_000;
  scenario.do({ kind: 'CreateJoinToken', token: join.id, hash: join.hash, lifetimeMs, node: null, by: 'root' });
  return { scenario, user, join };
}

describe('a token', () => {
  it('is 256 bits of chance, of which a digest alone is kept [R4.23]', () => {
    const { scenario, user, join } = scene();
    expect(user.text).toMatch(/^yt_[a-z0-9]{10}_[0-9a-f]{64}$/);
    expect(join.text).toMatch(/^yj_[a-z0-9]{10}_[0-9a-f]{64}$/);
    const kept = JSON.stringify(scenario.facts) + JSON.stringify([...scenario.state.access.tokens.values()]);
    expect(kept).toContain(user.hash);
    for (const { text } of [user, join]) expect(kept).not.toContain(text.split('_')[2]);
    expect(drawToken('user', chance, digests).text).not.toBe(user.text);
  });

  it('says who comes with it, to the end of its time [R4.23]', () => {
    const { scenario, user, join } = scene();
    const { state } = scenario;
    expect(verify(state, presented(user.text), at(0))).toEqual({ kind: 'user', name: 'ada', token: user.id });
    expect(verify(state, presented(join.text), at(0))).toEqual({ kind: 'join', token: join.id });
    expect(verify(state, presented(user.text), at(60_000))).toMatchObject({
      kind: 'nobody',
      meant: `token ${user.id}`,
      refusal: { code: 'UNAUTHORIZED', message: 'the token has expired' },
    });
  });

  it('is nobody once it is revoked, with another secret, another id or as another kind [R4.23]', () => {
    const { scenario, user, join } = scene();
    const { state } = scenario;
    const real = presented(user.text);
    const wrong: readonly (readonly [Presented, string | null])[] = [
      [{ kind: 'user', id: user.id, secret: presented(join.text).kind }, `token ${user.id}`],
      [{ kind: 'user', id: 'nothere', secret: 'x' }, null],
      [{ kind: 'user', id: '__proto__', secret: 'x' }, null],
      [{ ...real, kind: 'join' } as Presented, null],
      [{ kind: 'node', node: 'n1', secret: 'x' }, null],
    ];
    for (const [one, meant] of wrong) {
      expect(verify(state, one, at(0))).toMatchObject({ kind: 'nobody', meant, refusal: { code: 'UNAUTHORIZED' } });
    }
    scenario.do({ kind: 'RevokeToken', token: user.id, by: 'root' });
    expect(verify(state, real, at(0))).toMatchObject({ kind: 'nobody', meant: null });
  });
});

describe("a node's key", () => {
  it('is drawn by its agent, known by its digest, and gone with the node', () => {
    const { scenario, join } = scene();
    const keyHash = hashSecret('the key', digests);
    scenario.do({ kind: 'UseJoinToken', token: join.id, node: 'n1', keyHash });
    scenario.join('n1');
    const show = (node: string, secret: string) => verify(scenario.state, { kind: 'node', node, secret }, at(0));
    expect(show('n1', 'the key')).toEqual({ kind: 'node', name: 'n1' });
    expect(show('n1', 'another')).toMatchObject({ kind: 'nobody', meant: 'node n1' });
    expect(show('n2', 'the key')).toMatchObject({ kind: 'nobody', meant: null });
    expect(verify(scenario.state, presented(join.text), at(0))).toMatchObject({ kind: 'nobody' });
    scenario.leave('n1');
    scenario.do({ kind: 'RemoveNode', node: 'n1', by: 'root' });
    expect(show('n1', 'the key')).toMatchObject({ kind: 'nobody' });
  });
});
