import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunningNode, ServiceHandle, Services } from '../src/client/api.ts';
import { createServices } from '../src/client/services.ts';
import type { ReplicaView, ServiceView } from '../src/core/service/view.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { markedPids, until } from './lab.ts';

let lab: EmbeddedLab;
let client: EmbeddedClient;
let services: Services;
const machines = new Map<string, { readonly client: EmbeddedClient; readonly node: RunningNode }>();

beforeEach(async () => {
  lab = openEmbeddedLab();
  client = await lab.open();
  services = createServices(client.embedded);
});
afterEach(async () => {
  for (const name of [...machines.keys()]) await endMachine(name);
  await lab.close();
});

/** A named node on the home, with a client of its own as a separate process would have; `bootId` stands for its boot. */
async function startMachine(name: string, bootId = `boot-of-${name}`): Promise<void> {
  const own = await lab.open((host) => {
    const { clock } = host;
    return { ...host, clock: { wallMs: () => clock.wallMs(), bootMs: () => clock.bootMs(), bootId: () => bootId } };
  });
  const node = await own.nodes.start({ name, cpus: 2, wait: true });
  if (node === null) throw new Error(`node ${name} was taken`);
  machines.set(name, { client: own, node });
}

async function endMachine(name: string): Promise<void> {
  const machine = machines.get(name);
  machines.delete(name);
  await machine?.node.close();
  await machine?.client.close();
}

async function apply(name: string, profile: object): Promise<ServiceHandle> {
  const common = { grace: '1s', port: false, resources: { cpus: 0.1 }, rollout: { minReady: '0s' } };
  const run = 'echo "$RANK $$"; exec sleep 1000';
  await services.apply({ service: { name, run }, profile: { ...common, ...profile } });
  return services.get(name);
}

async function untilView(service: ServiceHandle, isSo: (view: ServiceView) => boolean): Promise<ServiceView> {
  for await (const view of service.watch()) if (isSo(view)) return view;
  throw new Error(`${service.name} was removed before it came true`);
}

const isReady = (count: number) => (view: ServiceView) => view.ready === count && view.replicas.length === count;

const nodesOf = (replica: ReplicaView | undefined): readonly string[] =>
  (replica?.tasks ?? []).map((task) => task.node).sort();

/** Process ids of a replica by rank, the latest of each. */
async function pidsOf(id: string): Promise<ReadonlyMap<number, number>> {
  const pids = new Map<number, number>();
  for await (const text of (await client.jobs.get(id)).logs())
    for (const line of text.trim().split('\n')) {
      const [rank, pid] = line.split(' ').map(Number);
      if (rank !== undefined && pid !== undefined) pids.set(rank, pid);
    }
  return pids;
}

async function pidOf(id: string, rank: number): Promise<number> {
  await until(async () => (await pidsOf(id)).has(rank), `the first line of rank ${rank}`);
  return (await pidsOf(id)).get(rank) ?? 0;
}

describe('a replica that spans two nodes', () => {
  it('is placed on both together or not at all, and removing it leaves no process on either [U3] [G1] [G5] [X26]', async () => {
    await startMachine('a');
    const service = await apply('wide', { nodes: 2 });
    const waiting = await service.view();
    expect(waiting.reason).toContain('needs 2 nodes at once, 1 could take it');
    expect(waiting.replicas[0]?.tasks).toEqual([]);
    expect(markedPids(lab.home)).toEqual([]);
    await startMachine('b');
    const { replicas } = await untilView(service, isReady(1));
    expect(nodesOf(replicas[0])).toEqual(['a', 'b']);
    await service.remove();
    await until(() => markedPids(lab.home).length === 0, 'the end of its processes');
  });

  it('has a task restarted in place, and ends as a whole when one ends for good; then another comes [U3] [G3]', async () => {
    await startMachine('a');
    await startMachine('b');
    const restart = { backoff: { initial: '0s', max: '0s' }, maxRestarts: 1 };
    const service = await apply('pair', { nodes: 2, restart });
    const [first] = (await untilView(service, isReady(1))).replicas;
    const id = first?.id ?? '';
    const peer = await pidOf(id, 0);
    const killed = await pidOf(id, 1);
    process.kill(killed, 'SIGKILL');
    const restarted = await untilView(
      service,
      (view) => isReady(1)(view) && view.replicas[0]?.tasks.some(({ restarts }) => restarts === 1) === true,
    );
    expect(restarted.replicas[0]).toMatchObject({ id, attempt: 1, tasks: [{ restarts: 0 }, { restarts: 1 }] });
    expect(await pidOf(id, 0)).toBe(peer);
    await until(async () => (await pidOf(id, 1)) !== killed, 'the first line of its next run');
    process.kill(await pidOf(id, 1), 'SIGKILL');
    const [second] = (await untilView(service, (view) => isReady(1)(view) && view.replicas[0]?.id !== id)).replicas;
    expect(nodesOf(second)).toEqual(['a', 'b']);
    expect((await (await client.jobs.get(id)).view()).outcome).toMatchObject({
      reason: 'gave-up',
      message: expect.stringContaining('rank 1'),
    });
    expect(markedPids(lab.home)).not.toContain(peer);
  });

  it('is placed again as a whole when a node of it is lost: the same replica, its next attempt [G4] [U3]', async () => {
    await startMachine('a');
    await startMachine('b');
    const service = await apply('lossy', { nodes: 2 });
    const [first] = (await untilView(service, isReady(1))).replicas;
    const peer = await pidOf(first?.id ?? '', first?.tasks.find(({ node }) => node === 'a')?.rank ?? 0);
    expect(first?.settings.retry.maxAttempts).toBe(10);
    await endMachine('b');
    await startMachine('b', 'the next boot of b');
    const [again] = (await untilView(service, (view) => isReady(1)(view) && view.replicas[0]?.attempt === 2)).replicas;
    expect(again?.id).toBe(first?.id);
    expect(nodesOf(again)).toEqual(['a', 'b']);
    expect(markedPids(lab.home)).not.toContain(peer);
  });
});

describe('replicas under strict spread', () => {
  it('are at most one a node; the one too many waits and says why [X21] [B10]', async () => {
    await startMachine('a');
    await startMachine('b');
    const service = await apply('apart', { replicas: 3, spread: 'strict' });
    const view = await untilView(service, ({ ready }) => ready === 2);
    const placed = view.replicas.filter(({ ready }) => ready);
    expect(placed.flatMap(nodesOf).sort()).toEqual(['a', 'b']);
    const waiting = view.replicas.find(({ state }) => state === 'PENDING');
    expect(waiting?.reason).toBe(
      'needs a node without a replica of apart (spread = "strict"), all 2 that fit have one',
    );
    await startMachine('c');
    expect((await untilView(service, isReady(3))).replicas.flatMap(nodesOf).sort()).toEqual(['a', 'b', 'c']);
  });
});
