import { describe, expect, it } from 'vitest';
import { exited, gpus } from '../scenario.testsuite.ts';
import { ServiceScenario } from './service-scenario.testsuite.ts';

function nodesOf(at: ServiceScenario, ...ids: readonly string[]): readonly string[] {
  return ids.flatMap((id) => at.live(id).tasks.map((task) => task.node)).sort();
}

const gpu = { resources: { gpus: 1 } };

describe('replicas on nodes', () => {
  it('that prefer to be apart go where none is, and share a node where they must [X21]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]).running({ replicas: 2, spread: 'prefer' });
    expect(nodesOf(at, ...at.ids())).toEqual(['n1', 'n2']);
    at.scale(4);
    expect(nodesOf(at, ...at.ids())).toEqual(['n1', 'n1', 'n2', 'n2']);
  });

  it('that need not be apart fill one node first [X21] [G7]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]).running({ replicas: 2, spread: 'none' });
    expect(nodesOf(at, ...at.ids())).toEqual(['n1', 'n1']);
  });

  it('that must be apart wait for another node, say so, and take it when it comes [X21] [B10]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]);
    at.apply({ replicas: 3, spread: 'strict' });
    const [a = '', b = '', c = ''] = at.ids();
    expect(nodesOf(at, a, b)).toEqual(['n1', 'n2']);
    at.ready(a, b);
    expect(at.shown).toBe(
      `UPDATING: no capacity: ${c} needs a node without a replica of llm (spread = "strict"), all 2 that fit have one`,
    );
    expect(at.view.replicas[2]?.waiting?.reason).toBe('spread');
    at.join('n3');
    expect(nodesOf(at, c)).toEqual(['n3']);
  });

  it('of a new revision must be apart from those of the old one too: the deadline says what was missing [X21] [X25]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ spread: 'strict' });
    at.apply({ spread: 'strict', rollout: { progressDeadlineMs: 10_000 } }, { run: 'serve v2' });
    at.pass(10_000);
    expect(at.shown).toMatch(/^RUNNING: rollout to revision 2 failed: no capacity: \S+ needs a node without a replica/);
    at.apply({ spread: 'strict', rollout: { maxSurge: 0, maxUnavailable: 1 } }, { run: 'serve v2' });
    at.say('ResumeRollout');
    at.drain();
    expect(nodesOf(at, ...at.ids(2))).toEqual(['n1']);
  });

  it('that span nodes are placed together or not at all, and are ready when every rank is [U3] [G1]', () => {
    const at = new ServiceScenario(['n1', 1], ['n2', 1], ['n3', 1]);
    at.apply({ ...gpu, nodes: 2, replicas: 2 });
    const [a = '', b = ''] = at.ids();
    expect(at.live(a).tasks).toHaveLength(2);
    expect(at.stateOf(b)).toBe('PENDING');
    const free = at.state.nodes.get('n3');
    expect(free?.allocations.size).toBe(0);
    const prepared = { kind: 'TaskPrepared', address: '10.0.0.1', port: 4000 } as const;
    for (const rank of [0, 1]) at.report(at.key(a, 0, rank), prepared);
    at.report(at.key(a, 0, 0), { kind: 'ReadinessChanged', ready: true, reason: null });
    expect(at.view.ready).toBe(0);
    at.report(at.key(a, 0, 1), { kind: 'ReadinessChanged', ready: true, reason: null });
    expect(at.view).toMatchObject({ ready: 1, running: 1 });
    at.join('n4', { cpus: 64, gpus: gpus('n4', 1) });
    expect(at.live(b).tasks).toHaveLength(2);
  });

  it('that span nodes are placed again as a whole after a node is lost [G4] [X21]', () => {
    const at = new ServiceScenario(['n1', 1], ['n2', 1]).running({ ...gpu, nodes: 2 });
    const [id = ''] = at.ids();
    at.join('n2', { cpus: 64, gpus: gpus('n2', 1) }, { bootId: 'boot-2' });
    at.report(at.key(id, 0, 0), { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: 15 });
    expect(at.ids()).toEqual([id]);
    expect(at.live(id)).toMatchObject({ attempt: 2 });
    at.ready(id);
    expect(at.shown).toBe('RUNNING');
  });

  it('of which one rank ends are ended as a whole, and replaced [U3] [G3]', () => {
    const at = new ServiceScenario(['n1', 1], ['n2', 1]).running({ ...gpu, nodes: 2, restart: { policy: 'never' } });
    const [id = ''] = at.ids();
    at.report(at.key(id, 0, 1), exited(3));
    expect(at.view.ready).toBe(0);
    at.report(at.key(id, 0, 0), { kind: 'OutputsCollected', outputs: [], manifest: null, exitCode: null, signal: 15 });
    expect(at.shown).toMatch(/^WAITING: \S+ ended: rank 1 exited with code 3; replaced in/);
    at.pass(2000);
    expect(at.live(at.ids()[0] ?? '').tasks).toHaveLength(2);
  });
});

describe('a replica whose node is lost', () => {
  const reboot = (at: ServiceScenario) => at.join('n1', { cpus: 64 }, { bootId: 'boot-2' });

  it('is replaced at once under replace, and with backoff when it goes on [X4] [X12]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    const [id = ''] = at.ids();
    reboot(at);
    expect(at.ids()).toHaveLength(1);
    expect(at.ids()).not.toContain(id);
    expect(at.service).toMatchObject({ failures: 1 });
    expect(at.events()[0]).toMatch(/ended: the host of node n1 rebooted; replaced at once$/);
    at.tell(at.ids()[0] ?? '', { kind: 'NodeFault', message: 'its disk failed', held: false });
    expect(at.ids()).toEqual([]);
    at.pass(3000);
    expect(at.ids()).toHaveLength(1);
  });

  it('is never run again under fail: the service is FAILED until it is asked for anew [X4]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ onNodeLoss: 'fail' });
    reboot(at);
    at.pass(60_000);
    expect(at.ids()).toEqual([]);
    expect(at.shown).toBe('FAILED: 1 replica was lost with the node, and the profile says onNodeLoss = "fail"');
    expect(at.apply({ onNodeLoss: 'fail' })).toMatchObject({ revision: 1, changed: true });
    expect(at.ids()).toHaveLength(1);
  });

  it('under fail leaves the others: the service WAITS with the reason, and scaling asks anew [X4] [X27]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]).running({ onNodeLoss: 'fail', replicas: 2 });
    reboot(at);
    expect(at.ids()).toHaveLength(1);
    expect(at.shown).toBe('WAITING: 1 replica was lost with the node, and the profile says onNodeLoss = "fail"');
    at.scale(2);
    expect(at.ids()).toHaveLength(2);
  });

  it('under wait has no second one beside it while its processes may live [X4] [I12]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]).running({ onNodeLoss: 'wait' });
    const [id = ''] = at.ids();
    const key = at.key(id);
    const { node } = at.task(id);
    at.tell(id, { kind: 'NodeFault', message: 'a process cannot be killed', held: true });
    at.pass(60_000);
    expect(at.ids()).toEqual([]);
    expect(at.shown).toBe(`WAITING: ${id} ended: a process cannot be killed`);
    at.step(at.reportOf(node, [], [key]));
    expect(at.ids()).toHaveLength(1);
  });

  it('that may still live counts against the surge under replace [I20]', () => {
    const at = new ServiceScenario(['n1', 0], ['n2', 0]).running({ rollout: { maxSurge: 0, maxUnavailable: 1 } });
    const [id = ''] = at.ids();
    const key = at.key(id);
    const { node } = at.task(id);
    at.tell(id, { kind: 'NodeFault', message: 'a process cannot be killed', held: true });
    at.pass(60_000);
    expect(at.service.replicas.size).toBe(1);
    at.step(at.reportOf(node, [], [key]));
    expect(at.ids()).toHaveLength(1);
    expect(at.ids()).not.toContain(id);
  });

  it('keeps its verdict and its endpoint while only the agent is away [B3] [X32]', () => {
    const at = new ServiceScenario(['n1', 0]).running();
    at.leave('n1');
    at.pass(600_000);
    expect(at.view).toMatchObject({ ready: 1, state: 'RUNNING' });
    expect(at.view.endpoints).toHaveLength(1);
  });
});

describe('the endpoints of a service', () => {
  it('are those of ready replicas that are not stopping, and of no run before [X32] [I25]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    const [a = '', b = ''] = at.ids();
    expect(at.view.endpoints.map(({ replica }) => replica)).toEqual([0, 1]);
    at.unready(a);
    expect(at.view.endpoints.map(({ replica }) => replica)).toEqual([1]);
    at.tell(a, { kind: 'Restarted', restarts: 1, lastFailure: 'liveness failed 3 times: no answer' });
    at.tell(a, { kind: 'ReadinessChanged', ready: true, reason: null });
    expect(at.view.endpoints.map(({ replica }) => replica)).toEqual([1]);
    at.tell(a, { kind: 'EndpointOpened', endpoint: '10.0.0.1:4007' });
    expect(at.view.endpoints).toContainEqual({ replica: 0, endpoint: '10.0.0.1:4007' });
    at.do({ kind: 'StopJob', job: b, indices: null, by: 'ada', graceMs: null });
    expect(at.view.endpoints.map(({ replica }) => replica)).toEqual([0]);
  });

  it('show beside them why the others are not ready [X7] [B10]', () => {
    const at = new ServiceScenario(['n1', 0]).running({ replicas: 2 });
    const [a = ''] = at.ids();
    at.unready(a, 'startup 60 of 60, port 41873 refused; the process listens on 8000');
    const reason = 'not ready: startup 60 of 60, port 41873 refused; the process listens on 8000';
    expect(at.view.replicas[0]).toMatchObject({ id: a, ready: false, reason, revision: 1, stopping: false });
    expect(at.shown).toBe(`WAITING: ${a} ${reason}`);
  });
});
