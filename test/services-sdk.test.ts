import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningNode, ServiceHandle, Services } from '../src/client/api.ts';
import { followEvents } from '../src/client/events.ts';
import { RefusalError } from '../src/client/refusal-error.ts';
import { createServices } from '../src/client/services.ts';
import type { ServiceView } from '../src/core/service/view.ts';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';
import { until } from './lab.ts';

/** Replicas that are ready as soon as they run: they say a line and wait. */
const ticker = (line: string, more: object = {}) => ({
  service: { name: 'ticker', run: `echo ${line}; exec sleep 600`, workspace: { workdir: '.' }, ...more },
  profile: { port: false, resources: { cpus: 0.1 }, grace: '1s', rollout: { minReady: '0s', progressDeadline: '5s' } },
});

let lab: EmbeddedLab;
let client: EmbeddedClient;
let node: RunningNode | null;
let services: Services;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runyard-sdk-'));
  writeFileSync(join(folder, 'data'), 'bytes');
  lab = openEmbeddedLab();
  client = await lab.open();
  services = createServices(client.embedded);
  node = await client.nodes.start({ name: 'here', cpus: 2 });
});
afterAll(async () => {
  await node?.close();
  await lab.close();
  rmSync(folder, { recursive: true, force: true });
});

async function untilView(service: ServiceHandle, isSo: (view: ServiceView) => boolean): Promise<ServiceView> {
  for await (const view of service.watch()) if (isSo(view)) return view;
  throw new Error(`${service.name} was removed before it came true`);
}

const isDone = ({ rollout }: ServiceView): boolean => rollout?.state === 'done';

describe.sequential('services in the SDK', () => {
  it('are applied as objects in the form of a file, once; what is the same changes nothing [X20] [X27]', async () => {
    const options = { baseDirectory: folder };
    expect(await services.apply(ticker('one'), options)).toEqual({ name: 'ticker', revision: 1, changed: true });
    const service = await services.get('ticker');
    expect(await untilView(service, isDone)).toMatchObject({ desired: 1, ready: 1, state: 'RUNNING' });
    expect(await services.apply(ticker('one'), options)).toEqual({ name: 'ticker', revision: 1, changed: false });
    expect((await services.list()).map(({ name }) => name)).toEqual(['ticker']);
    expect(await service.revisions()).toMatchObject([{ revision: 1, current: true, replicas: 1, profile: null }]);
    expect((await service.explain()).sentence).toBe('ticker is RUNNING: 1 of 1 ready on revision 1');
  });

  it('are watched from change to change until the service is as it should be [X27]', async () => {
    const service = await services.get('ticker');
    const seen: string[] = [];
    const watching = (async () => {
      for await (const { ready, desired } of service.watch()) {
        seen.push(`${ready}/${desired}`);
        if (ready === 3) return;
      }
    })();
    await service.scale(3);
    await watching;
    expect(seen.at(-1)).toBe('3/3');
    expect(seen).toContain('1/3');
  });

  it('go down by the replicas that are named first [X24]', async () => {
    const service = await services.get('ticker');
    const [first = '', second = '', third = ''] = (await service.view()).replicas.map(({ id }) => id);
    await service.scale(1, { remove: [first, third] });
    const view = await untilView(service, ({ replicas }) => replicas.length === 1);
    expect(view.replicas.map(({ id }) => id)).toEqual([second]);
    await expect(service.scale(1, { remove: ['ticker-000000'] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('follow the logs of all replicas, those of later ones too, each line behind its replica [S4]', async () => {
    const service = await services.get('ticker');
    const end = new AbortController();
    const lines: string[] = [];
    const following = (async () => {
      for await (const line of service.logs({ follow: true, signal: end.signal })) lines.push(line);
    })();
    await until(() => lines.length === 1, 'the first line');
    await services.apply(ticker('two'), { baseDirectory: folder });
    await until(() => lines.length === 2, 'the line of the new replica');
    end.abort();
    await following;
    const view = await untilView(service, (one) => isDone(one) && one.replicas.length === 1);
    expect(lines[0]).toMatch(/^ticker-\w{6} {2}one\n$/);
    expect(lines[1]).toBe(`${view.replicas[0]?.id}  two\n`);
    const whole: string[] = [];
    for await (const line of service.logs({ tail: 5 })) whole.push(line);
    expect(whole).toEqual([lines[1]]);
  });

  it('are restarted as a rollout, paused, resumed and undone [X25]', async () => {
    const service = await services.get('ticker');
    const before = (await service.view()).replicas[0]?.id;
    expect(await service.restart()).toEqual({ name: 'ticker', revision: 3, changed: true });
    const after = await untilView(service, isDone);
    expect(after.replicas.every(({ id }) => id !== before)).toBe(true);
    await expect(service.pauseRollout()).rejects.toMatchObject({ code: 'WRONG_STATE' });
    await services.apply(ticker('three'), { baseDirectory: folder });
    await service.pauseRollout();
    expect(await service.view()).toMatchObject({ state: 'UPDATING', rollout: { state: 'paused', to: 4 } });
    await service.resumeRollout();
    await untilView(service, isDone);
    await service.undoRollout({ to: 1 });
    expect(await untilView(service, isDone)).toMatchObject({ revision: 1 });
    await expect(service.undoRollout({ to: 99 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('show their events and those of their replicas, and of nothing else [X27]', async () => {
    const job = await client.jobs.submit({ job: { name: 'other', run: 'true' } });
    await job.wait();
    const kinds = new Set<string>();
    for await (const event of followEvents(client.embedded, { service: 'ticker' })) {
      kinds.add(event.kind);
      expect([event.service, event.job?.startsWith('ticker-')]).not.toEqual([null, false]);
      expect(event.job?.startsWith('other')).not.toBe(true);
    }
    for (const kind of ['ServiceApplied', 'ServiceScaled', 'RolloutEnded', 'JobSubmitted', 'JobStarted']) {
      expect(kinds).toContain(kind);
    }
  });

  it('keep the bytes of each revision until the service is removed [X20]', async () => {
    const { log } = client.embedded.plane;
    writeFileSync(join(folder, 'data'), 'other bytes');
    const before = await log.pinnedBlobs();
    await services.apply(ticker('four'), { baseDirectory: folder });
    const service = await services.get('ticker');
    await untilView(service, isDone);
    const during = await log.pinnedBlobs();
    expect([before.size, during.size]).toEqual([1, 2]);
    await service.remove();
    expect((await log.pinnedBlobs()).size).toBe(0);
    await expect(services.get('ticker')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for await (const view of service.watch()) throw new Error(`${view.name} should be gone`);
  });

  it('refuse what is wrong as any refusal, and secrets, for jobs as for services [U7]', async () => {
    const refusals = [
      services.apply({ service: { name: 'a', run: 'b', outputs: [] } }),
      services.apply({ service: { name: 'a', run: 'b', env: { T: { secret: 'hf' } } } }),
      client.jobs.submit({ job: { name: 'a', run: 'b', env: { T: { secret: 'hf' } } } }),
      services.apply({ service: { name: 'a', run: 'b', env: { PORT: '1' } } }),
      services.apply({ service: { name: 'a', run: 'b' }, profile: 'nowhere' }),
    ].map((one) => one.catch((error: unknown) => error));
    const errors = await Promise.all(refusals);
    expect(errors.every((error) => error instanceof RefusalError)).toBe(true);
    expect(errors).toMatchObject([
      { code: 'UNKNOWN_KEY', path: 'service.outputs' },
      { code: 'SECRET_NOT_SET', path: 'service.env.T' },
      { code: 'SECRET_NOT_SET', path: 'job.env.T' },
      { code: 'PORT_CONFLICT', path: 'service.env.PORT' },
      { code: 'NOT_FOUND' },
    ]);
    expect(await services.list()).toEqual([]);
  });
});
