import { describe, expect, it } from 'vitest';
import type { Command } from '../command.ts';
import { describeFact } from '../describe.ts';
import { ordersFor } from '../node/orders.ts';
import { whyWaiting } from '../placement/waiting.ts';
import type { PartialSettings } from '../profile/settings.ts';
import { fromRecords, toRecords } from '../records.ts';
import { exited, joining, Scenario } from '../scenario.testsuite.ts';
import { ServiceScenario } from '../service/service-scenario.testsuite.ts';
import { sharesOf } from './shares.ts';
import { viewSecrets } from './view.ts';

const keys = { n1: key('1'), n2: key('2'), n3: key('3') } as const;
const token = { env: { HF_TOKEN: { secret: 'hf' } } } as const;

function key(letter: string): string {
  return `${letter.repeat(43)}=`;
}

function join(at: Scenario, node: keyof typeof keys, secrets: readonly string[] = []): void {
  const instance = `${node}-${at.facts.length}`;
  at.instances.set(node, instance);
  at.do({ ...joining(node, instance), publicKey: keys[node], secrets });
}

function set(at: Scenario, ...nodes: readonly (keyof typeof keys)[]): void {
  at.do(setting(Object.fromEntries(nodes.map((node) => [keys[node], `Ym94bm${node}`]))));
}

function setting(boxes: Readonly<Record<string, string>>, more: object = {}): Extract<Command, { kind: 'SetSecret' }> {
  return { kind: 'SetSecret', project: 'default', name: 'hf', boxes, by: 'ada', ...more };
}

function boxesOn(at: Scenario, node: string): readonly unknown[] {
  return [...ordersFor(at.state, node).values()].map((order) => order.task.boxes);
}

describe('a submission that names a secret', () => {
  it('is refused while the secret is not set, with the variable and the command that sets it [U7]', () => {
    const at = new Scenario();
    const refusal = at.refused({ ...submitting(at), project: 'default' });
    expect(refusal).toMatchObject({
      code: 'SECRET_NOT_SET',
      message: 'secret "hf" is not set (env.HF_TOKEN)',
      hint: 'yard secrets set hf',
      path: 'job.env.HF_TOKEN',
    });
    set(at, 'n1');
    expect(at.stateOf(at.submit({}, token))).toBe('PENDING');
  });

  it('does not find that of another project [X29]', () => {
    const at = new Scenario();
    at.do({ kind: 'CreateProject', project: 'lab', quota: {}, by: 'ada' });
    set(at, 'n1');
    expect(at.refused({ ...submitting(at), project: 'lab' }).hint).toBe('yard secrets set hf --project lab');
  });

  it('is accepted for one that only a node keeps, and goes to that node alone', () => {
    const at = new Scenario();
    join(at, 'n1');
    join(at, 'n2', ['hf']);
    const id = at.submit({}, token);
    expect(at.task(id).node).toBe('n2');
    expect(boxesOn(at, 'n2')).toEqual([{}]);
  });

  it('is refused where the name is no name, or the variable none that a shell can export [R4.6] [R4.25]', () => {
    const at = new Scenario();
    const env = (variable: string, secret: string) => ({ ...submitting(at).spec, env: { [variable]: { secret } } });
    expect(at.refused({ ...submitting(at), spec: env('T', '../etc') }).code).toBe('BAD_NAME');
    expect(at.refused({ ...submitting(at), spec: env('A.B', 'hf') }).code).toBe('BAD_ENV_KEY');
  });

  it('stands for services as well [U7]', () => {
    const at = new ServiceScenario(['n1', 1]);
    expect(() => at.apply({}, token)).toThrow('SECRET_NOT_SET');
  });
});

describe('a job with a secret', () => {
  it('goes only to nodes that can open it, and is given the box of its node', () => {
    const at = new Scenario();
    for (const node of ['n1', 'n2', 'n3'] as const) join(at, node);
    set(at, 'n2');
    const ids = [1, 2, 3, 4].map(() => at.submit({}, token));
    expect(ids.map((id) => at.task(id).node)).toEqual(['n2', 'n2', 'n2', 'n2']);
    expect(boxesOn(at, 'n2')).toEqual(ids.map(() => ({ hf: 'Ym94bmn2' })));
  });

  it('waits with the reason while no node can open it, and starts once it is set for one [B10]', () => {
    const at = new Scenario();
    join(at, 'n1');
    set(at, 'n2');
    const id = at.submit({}, token);
    const waiting = (): unknown => whyWaiting(at.state, at.job(id), at.nowMs);
    expect(waiting()).toEqual({
      reason: 'secret',
      message: 'needs secret hf, which no ready node can open: yard secrets set hf',
    });
    at.do({ kind: 'RemoveSecret', project: 'default', name: 'hf', by: 'ada' });
    expect(waiting()).toMatchObject({ message: 'needs secret hf, which is not set any more: yard secrets set hf' });
    set(at, 'n1');
    expect(at.task(id).node).toBe('n1');
  });

  it('keeps other work from waiting behind it, and ranks go where all can open it [G3]', () => {
    const at = new Scenario();
    join(at, 'n1');
    join(at, 'n2');
    set(at, 'n1');
    const two: PartialSettings = { nodes: 2, resources: { cpus: 1 } };
    const ranked = at.submit(two, token);
    const plain = at.submit(two);
    expect([at.stateOf(ranked), at.stateOf(plain)]).toEqual(['PENDING', 'RUNNING']);
    expect(whyWaiting(at.state, at.job(ranked), at.nowMs)?.reason).toBe('secret');
    set(at, 'n1', 'n2');
    expect(at.stateOf(ranked)).toBe('RUNNING');
  });

  it('is told of a new value by the order that stands, without another step', () => {
    const at = new Scenario();
    join(at, 'n1');
    set(at, 'n1');
    const id = at.submit({}, token);
    at.report(at.key(id), { kind: 'JobStarted', port: null });
    at.do(setting({ [keys.n1]: 'bmV3' }));
    expect(boxesOn(at, 'n1')).toEqual([{ hf: 'bmV3' }]);
    expect(at.orders()).toEqual([`${id}.0.0.1:run`]);
    at.report(at.key(id), exited(0));
  });
});

describe('a secret', () => {
  it('is refused without a box, with a key or box that is none, and in a project that is not there [I26]', () => {
    const at = new Scenario();
    expect(at.refused(setting({})).code).toBe('NO_NODE');
    expect(at.refused(setting({ short: 'Ym94' })).code).toBe('BAD_VALUE');
    for (const box of ['no base64!', '', 'Ym9', 'Ym94bg', 'Ym9=bmV3']) {
      expect(at.refused(setting({ [keys.n1]: box })).code).toBe('BAD_VALUE');
    }
    expect(at.refused(setting({ [keys.n1]: 'A'.repeat(90_000) })).code).toBe('TOO_LARGE');
    const box = 'A'.repeat(87_000);
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${String(n).padStart(43, 'k')}=`, box]));
    expect(at.refused(setting(many)).message).toContain('sealed to 60 nodes');
    expect(at.refused(setting({ [keys.n1]: 'Ym94' }, { name: 'a/b' })).code).toBe('BAD_NAME');
    expect(at.refused(setting({ [keys.n1]: 'Ym94' }, { project: 'nowhere' })).code).toBe('NOT_FOUND');
    const remove = { kind: 'RemoveSecret', project: 'default', name: 'hf', by: 'ada' } as const;
    expect(at.refused(remove).hint).toBe('yard secrets set hf');
  });

  it('is shown by name, with who can open it and who cannot, and never by its boxes [G14]', () => {
    const at = new Scenario();
    join(at, 'n1');
    join(at, 'n2', ['own']);
    set(at, 'n1');
    expect(viewSecrets(at.state, null)).toEqual([
      {
        project: 'default',
        name: 'hf',
        setBy: 'ada',
        setAt: '2026-01-01T00:00:00.000Z',
        nodes: ['n1'],
        closedTo: ['n2'],
      },
      { project: null, name: 'own', setBy: null, setAt: null, nodes: ['n2'], closedTo: ['n1'] },
    ]);
    expect(at.facts.map(({ fact }) => describeFact(fact)).join('\n')).not.toContain('Ym94');
  });

  it('survives records and replays, as do the keys and secrets of nodes [I4] [I5]', () => {
    const at = new Scenario();
    join(at, 'n1', ['b', 'a', 'a']);
    set(at, 'n1');
    expect(at.state.nodes.get('n1')).toMatchObject({ publicKey: keys.n1, secrets: ['a', 'b'] });
    for (const other of [at.replayed(), fromRecords(toRecords(at.state))]) {
      expect(toRecords(other)).toEqual(toRecords(at.state));
    }
  });
});

describe('a node', () => {
  it('tells which secrets it keeps, once for each change [I28]', () => {
    const at = new Scenario();
    join(at, 'n1');
    const report = (secrets: readonly string[]): Command => ({ ...at.reportOf('n1', []), secrets });
    at.do(report([]));
    at.do(report(['hf']));
    at.do(report(['hf', 'hf']));
    expect(at.kinds(1)).toEqual(['NodeSecretsChanged']);
    expect(at.stateOf(at.submit({}, token))).toBe('RUNNING');
    expect(at.refused(report(['../../etc/passwd'])).code).toBe('BAD_NAME');
  });

  it('shares what it can open with nodes that came later, from the value that stands only [I14]', () => {
    const at = new Scenario();
    join(at, 'n1');
    set(at, 'n1');
    join(at, 'n2');
    const share = (from: string, boxes: Readonly<Record<string, string>>): void => {
      const shared = [{ project: 'default', name: 'hf', from, boxes }];
      at.do({ ...at.reportOf('n1', []), shared });
    };
    const known = at.facts.length;
    share('older', { [keys.n2]: 'Ym94' });
    share('Ym94bmn1', { [keys.n3]: 'Ym94' });
    share('Ym94bmn1', { [keys.n1]: 'ZmFrZQ==' });
    expect(at.kinds(known)).toEqual([]);
    share('Ym94bmn1', { [keys.n2]: 'c2hhcmVk', [keys.n1]: 'ZmFrZQ==' });
    expect(at.kinds(known)).toEqual(['SecretShared']);
    expect([...(at.state.secrets.get('default/hf')?.boxes.values() ?? [])]).toEqual(['Ym94bmn1', 'c2hhcmVk']);
  });

  it('is asked to share where it is the first that can, for as long as somebody lacks it', () => {
    const at = new Scenario();
    for (const node of ['n1', 'n2'] as const) join(at, node);
    set(at, 'n1', 'n2');
    expect(sharesOf(at.state).size).toBe(0);
    join(at, 'n3');
    const asked = { project: 'default', name: 'hf', publicKeys: [keys.n3] };
    expect([...sharesOf(at.state)]).toEqual([['n1', [{ ...asked, box: 'Ym94bmn1' }]]]);
    at.leave('n1');
    expect([...sharesOf(at.state)]).toEqual([['n2', [{ ...asked, box: 'Ym94bmn2' }]]]);
    at.leave('n2');
    expect(sharesOf(at.state).size).toBe(0);
  });

  it('that joins with a key that is none is refused', () => {
    const at = new Scenario();
    expect(at.refused({ ...joining('n1', 'i'), publicKey: 'x' }).code).toBe('BAD_VALUE');
  });
});

function submitting(at: Scenario): Extract<Command, { kind: 'SubmitJob' }> {
  const spec = { name: 'job', run: 'true', setup: null, workspace: null, outputs: [], args: [], ...token };
  return {
    kind: 'SubmitJob',
    spec,
    source: {},
    profile: null,
    layers: [],
    workspace: null,
    project: 'default',
    owner: 'ada',
    retryOf: null,
    indices: null,
    ids: [`job-${at.facts.length}`],
  };
}
