import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { RunningNode, ServiceHandle, Services } from '../src/client/api.ts';
import { prune } from '../src/client/prune.ts';
import { createServices } from '../src/client/services.ts';
import type { ReplicaView, ServiceView } from '../src/core/service/view.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { markedPids, until } from './lab.ts';

let lab: EmbeddedLab;
let client: EmbeddedClient;
let node: RunningNode | null;
let services: Services;
/** Where a test leaves files that what it runs looks for. */
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-services-'));
  lab = openEmbeddedLab();
  await startMachine();
});
afterEach(async () => {
  for (const { name } of await services.list()) await (await services.get(name)).remove();
  await until(() => markedPids(lab.home).length === 0, 'the end of what services left');
});
afterAll(async () => {
  await node?.close();
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startMachine(): Promise<void> {
  client = await lab.open();
  services = createServices(client.embedded);
  node = await client.nodes.start({ name: 'here', cpus: 8, wait: true });
}

/** A supervised command that is restarted at once, on little of the node. */
async function apply(name: string, run: string | readonly string[], profile: object): Promise<ServiceHandle> {
  const common = { resources: { cpus: 0.1 }, grace: '1s', port: false };
  const restart = { backoff: { initial: '0s', max: '0s' } };
  await services.apply({ service: { name, run }, profile: { ...common, restart, ...profile } });
  return services.get(name);
}

/** A server in the interpreter that runs this test; `answer` decides about each response. */
const server = (answer: string, delayMs = 0): readonly string[] => [
  process.execPath,
  '-e',
  `const http = require('node:http'); let first = null;
  const web = http.createServer((request, response) => { first ??= Date.now(); ${answer} });
  setTimeout(() => web.listen(Number(process.env.PORT), '127.0.0.1'), ${delayMs});`,
];

const tellPid = 'response.end(String(process.pid));';

async function untilView(service: ServiceHandle, isSo: (view: ServiceView) => boolean): Promise<ServiceView> {
  for await (const view of service.watch()) if (isSo(view)) return view;
  throw new Error(`${service.name} was removed before it came true`);
}

const isDone = ({ rollout, ready, desired, replicas }: ServiceView): boolean =>
  rollout?.state === 'done' && ready === desired && replicas.length === desired;

const isReady = (count: number) => (view: ServiceView) => view.ready === count && view.replicas.length === count;

async function pidAt(endpoint: string): Promise<number> {
  return Number(await (await fetch(`http://${endpoint}/`, { headers: { connection: 'close' } })).text());
}

/** What must not change of a replica when others come and go. */
function identity({ id, startedAt, attempt, tasks }: ReplicaView): readonly unknown[] {
  return [id, startedAt, attempt, tasks[0]?.restarts, tasks[0]?.endpoint];
}

/** The process of a replica that printed its pid, the latest of them. */
async function printedPid(id: string): Promise<number> {
  let text = '';
  for await (const part of (await client.jobs.get(id)).logs()) text += part;
  return Number(text.trim().split('\n').at(-1));
}

describe.sequential('a service that is scaled', () => {
  it('from 1 to 8 to 2 loses those that are not ready first, then the newest [X24]', async () => {
    const open = `! test -e ${folder}/closed-$RUNYARD_JOB`;
    const readiness = { command: open, interval: '300ms', timeout: '10s', failures: 1 };
    const service = await apply('wide', 'exec sleep 1000', { readiness, rollout: { minReady: '0s' } });
    await untilView(service, isDone);
    await service.scale(8);
    const ids = (await untilView(service, isReady(8))).replicas.map(({ id }) => id);
    for (const id of [ids[1], ids[2]]) writeFileSync(join(folder, `closed-${id}`), '');
    await untilView(service, ({ ready }) => ready === 6);
    await service.scale(2);
    const left = await untilView(service, ({ replicas }) => replicas.length === 2);
    expect(left.replicas.map(({ id }) => id)).toEqual([ids[0], ids[3]]);
    expect(left).toMatchObject({ ready: 2, state: 'RUNNING', revision: 1 });
  });
});

describe.sequential('an update to a version that is ready for a moment', () => {
  it('fails at its deadline; pids, start times and restart counts of the old stay [C4] [X25] [B3]', async () => {
    const profile = {
      port: true,
      replicas: 2,
      readiness: { http: '/', interval: '100ms', timeout: '5s' },
      rollout: { minReady: '1s', progressDeadline: '4s' },
    };
    const service = await apply('flappy', server(tellPid), profile);
    const first = await untilView(service, isDone);
    const restarted = first.replicas[0];
    process.kill(await pidAt(restarted?.tasks[0]?.endpoint ?? ''), 'SIGKILL');
    const before = await untilView(
      service,
      (view) => isReady(2)(view) && view.endpoints.length === 2 && view.replicas[0]?.tasks[0]?.restarts === 1,
    );
    const pids = await Promise.all(before.endpoints.map(({ endpoint }) => pidAt(endpoint)));

    await apply(
      'flappy',
      server('response.statusCode = Date.now() - first < 300 ? 200 : 500; response.end();'),
      profile,
    );
    let wasReady = false;
    const failed = await untilView(service, ({ rollout, replicas }) => {
      wasReady ||= replicas.some(({ revision, ready }) => revision === 2 && ready);
      return rollout?.state === 'failed';
    });
    expect(wasReady).toBe(true);
    expect(failed.rollout).toMatchObject({ from: 1, to: 2, updated: 0 });
    expect(failed.rollout?.reason).toMatch(/^flappy-\w{6} not ready: GET \/ answered 500/);
    const old = (view: ServiceView) => view.replicas.filter(({ revision }) => revision === 1).map(identity);
    expect(old(failed)).toEqual(before.replicas.map(identity));

    // Nor does an agent that is replaced meanwhile change anything of it.
    await node?.close();
    await client.close();
    await startMachine();
    const again = await services.get('flappy');
    const after = await untilView(again, (view) => view.running === 3);
    expect(old(after)).toEqual(before.replicas.map(identity));
    expect(await Promise.all(after.endpoints.map(({ endpoint }) => pidAt(endpoint)))).toEqual(pids);
    await again.undoRollout();
    expect((await untilView(again, isReady(2))).replicas.map(identity)).toEqual(before.replicas.map(identity));
  });
});

describe.sequential('a rollout that is paused in the middle', () => {
  it('goes no further, restarts what it has in place, and comes to its end when it is resumed [X25] [X5]', async () => {
    const profile = { replicas: 3, rollout: { minReady: '100ms', maxSurge: 1 } };
    const service = await apply('paused', 'echo $$; exec sleep 1000', profile);
    const before = await untilView(service, isDone);
    await apply('paused', 'echo $$; exec sleep 1001', profile);
    await untilView(service, ({ rollout }) => rollout?.updated === 1);
    await service.pauseRollout();
    const isStill = ({ replicas }: ServiceView) => replicas.every(({ ready, stopping }) => ready && !stopping);
    const paused = await untilView(service, (view) => view.rollout?.state === 'paused' && isStill(view));
    const [old] = paused.replicas.filter(({ revision }) => revision === 1);
    expect(before.replicas.map(({ id }) => id)).toContain(old?.id);
    process.kill(await printedPid(old?.id ?? ''), 'SIGKILL');
    const restarted = await untilView(
      service,
      (view) => isStill(view) && view.replicas.some(({ tasks }) => tasks[0]?.restarts === 1),
    );
    expect(restarted.replicas.map(({ id }) => id)).toEqual(paused.replicas.map(({ id }) => id));
    expect(restarted).toMatchObject({ state: 'UPDATING', rollout: { state: 'paused', to: 2 } });
    await service.resumeRollout();
    expect((await untilView(service, isDone)).replicas.every(({ revision }) => revision === 2)).toBe(true);
  });
});

describe.sequential('a service that crashes in a loop', () => {
  const broken = () => join(folder, 'broken');
  const run = () => `echo $$; if test -e ${broken()}; then exit 7; fi; exec sleep 1000`;
  const restart = (then: string) => ({ backoff: { initial: '20ms', max: '1s' }, giveUp: { failures: 3 }, then });

  async function breakIt(service: ServiceHandle): Promise<string> {
    const { replicas } = await untilView(service, isDone);
    const id = replicas[0]?.id ?? '';
    await until(async () => (await printedPid(id)) > 0, 'its first line');
    writeFileSync(broken(), '');
    process.kill(await printedPid(id), 'SIGKILL');
    return id;
  }

  it('ends where it gives up, is replaced ever later, and says what it waits for [X5] [X23] [X1]', async () => {
    const service = await apply('crashing', run(), { restart: restart('end'), rollout: { minReady: '0s' } });
    const id = await breakIt(service);
    const waiting = await untilView(service, ({ reason }) => reason?.includes('replaced in') === true);
    expect(waiting).toMatchObject({ state: 'WAITING', ready: 0, desired: 1 });
    const cause = 'ended: failed 3 times in a row; the last: exited with code 7; replaced in';
    expect(waiting.reason).toContain(cause);
    expect((await service.explain()).sentence).toContain(`crashing is WAITING: 0 of 1 ready; `);
    expect((await (await client.jobs.get(id)).view()).outcome).toMatchObject({ reason: 'gave-up' });
    rmSync(broken());
    const again = await untilView(service, isReady(1));
    expect(again.state).toBe('RUNNING');
    expect(again.replicas[0]?.id).not.toBe(id);
  });

  it('goes back to the queue where it is told to: the same replica, a further attempt, with its reason [X5] [X23]', async () => {
    const service = await apply('requeued', run(), { restart: restart('requeue'), rollout: { minReady: '0s' } });
    const id = await breakIt(service);
    const waiting = await untilView(service, ({ reason }) => reason?.includes('starts in') === true);
    expect(waiting).toMatchObject({ state: 'WAITING', ready: 0, replicas: [{ id, state: 'PENDING' }] });
    expect(waiting.reason).toMatch(/^requeued-\w{6}: attempt \d+ starts in .*exited with code 7/);
    rmSync(broken());
    const again = await untilView(service, isReady(1));
    expect(again.replicas[0]?.id).toBe(id);
    expect(again.replicas[0]?.attempt).toBeGreaterThan(1);
  });
});

describe.sequential('the health of a replica', () => {
  it('has liveness restart the one that hangs, and no slow starter [X2] [C5]', async () => {
    const hangs = `if (request.url === '/hang') globalThis.hung = true; if (!globalThis.hung) ${tellPid}`;
    const probe = { http: '/', interval: '200ms', timeout: '2s', failures: 1 };
    const service = await apply('hanging', server(hangs, 700), {
      port: true,
      replicas: 2,
      startup: { http: '/', interval: '100ms', timeout: '5s', failures: 300 },
      liveness: probe,
      rollout: { minReady: '0s' },
    });
    const before = await untilView(service, isDone);
    expect(before.replicas.map(({ tasks }) => tasks[0]?.restarts)).toEqual([0, 0]);
    const [hung, other] = before.replicas;
    const end = new AbortController();
    const ask = fetch(`http://${hung?.tasks[0]?.endpoint}/hang`, { signal: end.signal }).catch(() => null);
    const after = await untilView(
      service,
      (view) => isReady(2)(view) && view.endpoints.length === 2 && view.replicas[0]?.tasks[0]?.restarts === 1,
    );
    end.abort();
    await ask;
    expect(after.replicas[0]?.tasks[0]?.lastFailure).toBe('liveness failed 1 time: GET / had no answer within 2 s');
    expect(after.replicas[1] && identity(after.replicas[1])).toEqual(other && identity(other));
  });
});

describe.sequential('how long a service runs', () => {
  it('is limited by nothing unless it asks for it [X9] [G5]', async () => {
    const unlimited = await apply('endless', 'exec sleep 1000', { rollout: { minReady: '0s' } });
    const limited = await apply('limited', 'exec sleep 1000', { timeout: '400ms', rollout: { minReady: '0s' } });
    const { replicas } = await untilView(unlimited, isDone);
    expect(replicas[0]?.settings.timeoutMs).toBeNull();
    const ended = await untilView(limited, ({ reason }) => reason?.includes(' ended: ') === true);
    expect(ended.reason).toContain('ended: ran longer than its timeout of 0.4 s');
    expect((await unlimited.view()).replicas.map(identity)).toEqual(replicas.map(identity));
    await limited.stop();
    await untilView(limited, (view) => view.replicas.length === 0);
    expect(await limited.view()).toMatchObject({ state: 'STOPPED', running: 0 });
  });

  it('has nothing to do with retention: ended replicas leave with prune, and what runs stays [X9]', async () => {
    const service = await apply('kept', 'exec sleep 1000', { rollout: { minReady: '0s' } });
    const before = await untilView(service, isDone);
    const gone = before.replicas[0]?.id ?? '';
    await (await client.jobs.get(gone)).stop();
    const after = await untilView(service, (view) => isReady(1)(view) && view.replicas[0]?.id !== gone);
    expect(await (await client.jobs.get(gone)).view()).toMatchObject({ state: 'FAILED', service: 'kept' });
    expect(existsSync(join(lab.home, 'nodes/here'))).toBe(true);
    const { jobs } = await prune(client.embedded, { olderThanMs: 0 });
    expect(jobs).toBeGreaterThanOrEqual(1);
    await expect(client.jobs.get(gone)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await service.view()).replicas.map(identity)).toEqual(after.replicas.map(identity));
  });
});
