import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RefusalError } from '../../client/refusal-error.ts';
import { submission } from '../../core/scenario.testsuite.ts';
import { type AgentLab, openAgentLab } from './agents.testsuite.ts';

let lab: AgentLab;
beforeEach(async () => {
  lab = await openAgentLab();
  await lab.admit('n1');
});
afterEach(async () => {
  await lab.close();
  expect(lab.faults).toEqual([]);
});

const key = { job: 'a-222222', index: 0, rank: 0, attempt: 1 };
const presenceOf = (node: string): string | undefined => lab.embedded.plane.state.nodes.get(node)?.presence.kind;

describe('an agent that connects', () => {
  it('is told every order that stands, and then what changes', async () => {
    await lab.embedded.plane.execute(submission('a-222222'));
    const agent = lab.agent('n1');
    await agent.join();
    await lab.time.pass(10);
    expect(agent.news).toMatchObject([{ kind: 'all', orders: [{ key, step: 'run' }] }]);
    expect(lab.embedded.plane.state.nodes.get('n1')).toMatchObject({ leased: true, instance: 'i1' });
    expect(
      await agent.channel.report({
        events: [{ ...key, kind: 'JobExited', exitCode: 0, signal: null, detail: null }],
        released: [],
      }),
    ).toEqual([]);
    await lab.time.pass(10);
    expect(agent.news.at(-1)).toMatchObject({ kind: 'changes', changes: [{ key, order: null }] });
  });

  it('is told all that stands at once, in however many messages it comes [I27]', async () => {
    const env = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`A${at}`, 'x'.repeat(100_000)]));
    const profile = { array: { size: 40, maxRunning: null }, resources: { cpus: 0.01 } };
    await lab.embedded.plane.execute(submission('a-222222', profile, { env }));
    const agent = lab.agent('n1');
    await agent.join();
    await lab.time.pass(10);
    expect(agent.news.map((news) => [news.kind, news.kind === 'all' && news.orders.length])).toEqual([['all', 40]]);
    agent.network.drop();
    await lab.time.pass(10_000);
    expect(agent.news.map((news) => [news.kind, news.kind === 'all' && news.orders.length]).at(-1)).toEqual([
      'all',
      40,
    ]);
  });

  it('renews its lease every five seconds, and leaves in good order', async () => {
    const agent = lab.agent('n1');
    await agent.join();
    await lab.time.pass(20_000);
    expect(lab.heard.length).toBe(6);
    const leaving = agent.channel.leave();
    await lab.time.pass(10);
    await leaving;
    expect(presenceOf('n1')).toBe('down');
    expect(agent.opened()).toBe(1);
  });

  it('comes again by itself after the server was restarted, and is told everything anew', async () => {
    const agent = lab.agent('n1');
    await agent.join();
    lab.restartServer();
    await lab.time.pass(2000);
    expect(agent.opened()).toBe(2);
    expect(agent.news.map(({ kind }) => kind)).toEqual(['all', 'all']);
    expect(agent.troubles).toEqual(['the server stops', null]);
  });

  it('goes on trying while nothing listens, with pauses of at most ten seconds', async () => {
    const agent = lab.agent('n1');
    await agent.join();
    agent.network.state = 'refused';
    agent.network.drop();
    await lab.time.pass(60_000);
    expect(agent.opened()).toBeGreaterThan(6);
    agent.network.state = 'open';
    await lab.time.pass(10_000);
    expect(agent.news.length).toBe(2);
  });

  it('notices a connection that is only half there, and opens another within its lease', async () => {
    const agent = lab.agent('n1');
    await agent.join();
    await lab.time.pass(6000);
    agent.network.state = 'silent';
    await lab.time.pass(16_000);
    agent.network.state = 'open';
    await lab.time.pass(6000);
    expect(agent.opened()).toBe(2);
    expect(lab.hub.connected).toEqual(['n1']);
  });

  it('is let go by the server when it is silent for a lease', async () => {
    const agent = lab.agent('n1');
    await agent.join();
    agent.network.state = 'silent';
    await lab.time.pass(40_000);
    expect(lab.hub.connected).toEqual([]);
    agent.channel.close();
  });
});

describe('a report', () => {
  it('is sent again until it is answered, and carried out once [R4.29]', async () => {
    await lab.embedded.plane.execute(submission('a-222222'));
    const agent = lab.agent('n1');
    await agent.join();
    await lab.time.pass(10);
    agent.network.state = 'silent';
    const reported = agent.channel.report({ events: [{ ...key, kind: 'JobStarted', port: null }], released: [] });
    await lab.time.pass(1000);
    agent.network.state = 'open';
    agent.network.drop();
    await lab.time.pass(5000);
    expect(await reported).toEqual([]);
    const started = (await lab.facts()).filter(({ kind }) => kind === 'JobStarted');
    expect(started.length).toBe(1);
  });

  it('that was carried out before is answered and changes nothing [R4.29]', async () => {
    await lab.embedded.plane.execute(submission('a-222222'));
    const raw = lab.raw('n1');
    raw.text(hello('n1'));
    await lab.time.pass(10);
    const report = { kind: 'report', seq: 1, events: [{ ...key, kind: 'JobStarted', port: null }], released: [] };
    raw.text(report);
    await lab.time.pass(10);
    const facts = (await lab.facts()).length;
    raw.text(report);
    await lab.time.pass(10);
    expect((await lab.facts()).length).toBe(facts);
    const answers = raw.heard.filter((text) => text.includes('reported'));
    expect(answers).toEqual(Array(2).fill(JSON.stringify({ kind: 'reported', seq: 1, stale: [] })));
  });

  it("of another node's task is refused, and stands in the audit [R4.27]", async () => {
    await lab.admit('n2');
    const owner = lab.agent('n1');
    await owner.join();
    await lab.embedded.plane.execute(submission('a-222222'));
    const thief = lab.agent('n2', { instance: 'i2' });
    await thief.join();
    const stolen = thief.channel.report({
      events: [{ ...key, kind: 'JobExited', exitCode: 0, signal: null, detail: null }],
      released: [],
    });
    await expect(stolen).rejects.toThrow('was never placed on n2');
    expect(lab.embedded.plane.state.jobs.get('a-222222')?.outcome).toBeNull();
    await vi.waitFor(async () =>
      expect((await lab.facts()).at(-1)).toMatchObject({ who: 'node n2', code: 'NOT_ASSIGNED' }),
    );
  });

  it('of a past attempt is answered as stale, and of a future one refused [R4.28]', async () => {
    const agent = lab.agent('n1');
    await agent.join();
    await lab.embedded.plane.execute(submission('a-222222'));
    const past = { ...key, attempt: 0 };
    expect(await agent.channel.report({ events: [{ ...past, kind: 'JobStarted', port: null }], released: [] })).toEqual(
      [past],
    );
    const future = agent.channel.report({
      events: [{ ...key, attempt: 7, kind: 'JobStarted', port: null }],
      released: [],
    });
    await expect(future).rejects.toThrow();
  });

  it('flood is carried out a commit at a time, and the node is not read meanwhile [R4.31]', async () => {
    await lab.embedded.plane.execute(submission('a-222222'));
    const raw = lab.raw('n1');
    raw.text(hello('n1'));
    await lab.time.pass(10);
    const event = { ...key, kind: 'EndpointOpened' };
    const events = (round: number) =>
      Array.from({ length: 500 }, (_, n) => ({ ...event, endpoint: `127.0.0.1:${round}${n}` }));
    for (let seq = 1; seq <= 10; seq += 1) raw.text({ kind: 'report', seq, events: events(seq), released: [] });
    await lab.time.pass(10);
    expect(raw.pauses).toContain('pause');
    await vi.waitFor(() => expect(raw.pauses.at(-1)).toBe('resume'));
    await vi.waitFor(() => expect(raw.heard.at(-1)).toContain('"seq":10'));
    expect(raw.heard.filter((text) => text.includes('"reported"')).length).toBe(10);
    const batches = (await lab.embedded.plane.log.readAfter(0)).filter(({ facts }) =>
      facts.some(({ kind }) => kind === 'EndpointOpened'),
    );
    expect(batches.length).toBeLessThan(10);
  });
});

describe('a node that talks too much', () => {
  it('is not read for the rest of the second, and then again [R4.31]', async () => {
    const raw = lab.raw('n1');
    raw.text(hello('n1'));
    await lab.time.pass(10);
    for (let seq = 1; seq <= 600; seq += 1) raw.text({ kind: 'heartbeat', seq });
    await lab.time.pass(10);
    expect(raw.pauses).toEqual(['pause']);
    await lab.time.pass(1000);
    expect(raw.pauses).toEqual(['pause', 'resume']);
    expect(raw.heard.filter((text) => text.includes('"heard"')).length).toBe(600);
    expect(raw.closed).toEqual([]);
  });
});

describe('two agents of one node', () => {
  it('leave the newest in its place: the other is told, ends, and may not come back', async () => {
    const old = lab.agent('n1', { instance: 'old' });
    await old.join();
    const clone = lab.agent('n1', { instance: 'new', bootId: 'other', place: 'elsewhere' });
    await clone.join();
    await lab.time.pass(60_000);
    expect(old.dismissals).toMatchObject([{ elsewhere: true, refusal: { code: 'STALE_ATTEMPT' } }]);
    expect(old.opened()).toBe(1);
    expect(clone.dismissals).toEqual([]);
    expect(lab.embedded.plane.state.nodes.get('n1')?.instance).toBe('new');
  });

  it('tell the one that lives when the hello of one that died comes after its own', async () => {
    const alive = lab.agent('n1', { instance: 'alive' });
    await alive.join();
    const dead = lab.raw('n1');
    dead.text(hello('n1'));
    dead.drop();
    await lab.time.pass(10);
    expect(lab.embedded.plane.state.nodes.get('n1')?.instance).toBe('raw');
    expect(alive.dismissals).toMatchObject([{ elsewhere: false, refusal: { code: 'STALE_ATTEMPT' } }]);
    const next = lab.agent('n1', { instance: 'next' });
    await next.join();
    await lab.time.pass(60_000);
    expect(next.dismissals).toEqual([]);
    expect(presenceOf('n1')).toBe('up');
  });

  it('tell the one that lives of a join that stands in the log, though the server never learnt how its commit ended', async () => {
    const alive = lab.agent('n1', { instance: 'alive' });
    await alive.join();
    const { node } = hello('n1');
    await lab.embedded.plane.execute({ kind: 'JoinNode', leased: true, ...node, instance: 'gone' });
    await lab.time.pass(10);
    expect(alive.dismissals).toMatchObject([{ elsewhere: false, refusal: { code: 'STALE_ATTEMPT' } }]);
  });

  it('leave the later of two whose joins came into one commit', async () => {
    const [first, second] = [lab.raw('n1'), lab.raw('n1')];
    first.text(hello('n1', 'first'));
    second.text(hello('n1', 'second'));
    await lab.time.pass(10);
    expect(first.closed).toMatchObject([{ code: 4001 }]);
    expect(second.closed).toEqual([]);
    expect(lab.embedded.plane.state.nodes.get('n1')?.instance).toBe('second');
  });

  it('tell an old one that was cut off meanwhile when it comes again', async () => {
    const old = lab.agent('n1', { instance: 'old' });
    await old.join();
    old.network.state = 'refused';
    old.network.drop();
    const next = lab.agent('n1', { instance: 'new', place: 'here' });
    await next.join();
    old.network.state = 'open';
    await lab.time.pass(20_000);
    expect(old.dismissals).toMatchObject([{ elsewhere: false, refusal: { code: 'STALE_ATTEMPT' } }]);
    expect(lab.embedded.plane.state.nodes.get('n1')?.instance).toBe('new');
  });
});

describe('what is no agent', () => {
  it('is refused when no version of the protocol is common to both, with both named', async () => {
    const raw = lab.raw('n1');
    raw.text({ ...hello('n1'), versions: [7, 8] });
    await lab.time.pass(10);
    expect(raw.heard[0]).toContain('the agent speaks version 7, 8 of the protocol, the server version 1');
    expect(raw.closed).toMatchObject([{ code: 4000 }]);
  });

  it('is refused when it presents the key of one node and speaks for another [R4.27]', async () => {
    const raw = lab.raw('n1');
    raw.text(hello('n2'));
    await lab.time.pass(10);
    expect(raw.heard[0]).toContain('NOT_ASSIGNED');
    expect(lab.embedded.plane.state.nodes.size).toBe(0);
  });

  it.each([
    ['text that is no JSON', '{'],
    ['a message of no kind', { kind: 'nonsense' }],
    ['a report before the hello', { kind: 'report', seq: 1, events: [], released: [] }],
    ['a hello with a capacity that is none', { ...hello('n1'), node: { ...hello('n1').node, capacity: null } }],
  ])('is closed on with a reason, and audited: %s', async (_what, said) => {
    const raw = lab.raw('n1');
    raw.text(said);
    await lab.time.pass(10);
    expect(raw.closed).toMatchObject([{ code: 4002 }]);
    expect((await lab.facts()).at(-1)).toMatchObject({ who: 'node n1', action: 'speak' });
  });

  it('is closed on when it opens streams, or says nothing at all', async () => {
    const raw = lab.raw('n1');
    raw.text(hello('n1'));
    await lab.time.pass(10);
    raw.bytes(new Uint8Array([0, 0, 0, 1, 0, 123, 125]));
    const mute = lab.raw('n1');
    await lab.time.pass(11_000);
    expect(raw.closed).toMatchObject([{ code: 4002 }]);
    expect(mute.closed).toMatchObject([{ code: 4003 }]);
  });

  it('is refused with a clock years away [R4.45]', async () => {
    const raw = lab.raw('n1');
    const { node, ...rest } = hello('n1');
    raw.text({ ...rest, node: { ...node, wallMs: 2 * 365 * 86_400_000 } });
    await lab.time.pass(10);
    expect(raw.heard[0]).toContain('CLOCK_SKEW');
  });

  it('has what it claims to offer clamped [R4.30]', async () => {
    const raw = lab.raw('n1');
    const { node, ...rest } = hello('n1');
    raw.text({ ...rest, node: { ...node, capacity: { ...node.capacity, cpus: 1e9 } } });
    await lab.time.pass(10);
    expect(lab.embedded.plane.state.nodes.get('n1')?.capacity.cpus).toBeLessThan(10_000);
  });
});

describe('a node whose key is worth nothing any more', () => {
  it('is let go of at once, and may say nothing else', async () => {
    const raw = lab.raw('n1');
    raw.text(hello('n1'));
    await lab.time.pass(10);
    await lab.admit('n1');
    await lab.time.pass(10);
    expect(raw.closed).toMatchObject([{ code: 1001, reason: 'the node has another key' }]);
    expect(lab.hub.connected).toEqual([]);
  });
});

describe('a node that the server refuses', () => {
  it('fails at its first join with the reason', async () => {
    const agent = lab.agent('n9');
    await expect(agent.join()).rejects.toThrow(RefusalError);
    expect(agent.opened()).toBe(1);
  });
});

function hello(node: string, instance = 'raw') {
  return {
    kind: 'hello',
    versions: [1],
    place: 'here',
    node: {
      node,
      instance,
      bootId: 'boot',
      capacity: { cpus: 4, memoryMiB: 8192, gpus: [], labels: {} },
      advertise: '127.0.0.1',
      platform: 'linux',
      version: '0.1.0',
      inventory: [],
      wallMs: 0,
    },
  };
}
