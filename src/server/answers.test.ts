import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunningNode } from '../client/api.ts';
import { Runyard } from '../client/runyard.ts';
import type { Route } from '../wire/http/route.ts';
import { routes } from '../wire/http/routes.ts';
import { eventsOf, open, pick, type Served, serve } from './served.testsuite.ts';

let served: Served;
let beside: Runyard;
let node: RunningNode | null;
let job: string;
beforeAll(async () => {
  served = await serve();
  beside = await Runyard.open({ home: served.home });
  node = await beside.nodes.start({ name: 'here', cpus: 2, memoryMiB: 1024, gpus: 0 });
  const submission = {
    job: { name: 'print', run: 'echo out; echo err >&2; echo 7 > result', outputs: ['result', 'no'] },
  };
  job = pick((await served.ask('POST', '/v1/jobs', { body: { submission } })).json, 'id');
  const service = { service: { name: 'web', run: 'sleep 1000' }, profile: { replicas: 1, port: true } };
  await served.ask('POST', '/v1/services', { body: { service } });
  await served.ask('POST', '/v1/projects', { body: { name: 'ml', quota: { gpus: 4 } } });
  await served.ask('POST', '/v1/tokens', { body: { kind: 'join' } });
  await served.ask('PUT', '/v1/profiles', { body: { document: { profile: { name: 'big', priority: 3 } } } });
  await served.ask('PUT', '/v1/secrets/hf', { body: { boxes: {} } });
  const watch = await open(served.server, { path: `/v1/jobs/${job}/watch` });
  for await (const { kind } of eventsOf(watch)) if (kind === 'end') break;
});
afterAll(async () => {
  await served.ask('DELETE', '/v1/services/web');
  await vi.waitFor(() => expect(node?.liveTasks()).toEqual([]), { timeout: 60_000 });
  await node?.close();
  await beside.close();
  await served.end();
});

const params: Readonly<Record<string, string>> = { id: 'print', name: 'web' };
const ofNodes: Readonly<Record<string, string>> = { name: 'here' };
const queries: Readonly<Record<string, string>> = { resolveJob: '?reference=print' };

function pathOf(name: string, { path }: Route): string {
  const own = name === 'getNode' ? ofNodes : params;
  return path.replaceAll(/\{(\w+)\}/g, (_, key: string) => own[key] ?? key) + (queries[name] ?? '');
}

describe('the answers of a server', () => {
  it('are what the table says, of everything that can be looked at', async () => {
    const table: readonly [string, Route][] = Object.entries(routes);
    const looked = table.filter(([, { method, answer }]) => method === 'GET' && answer.kind === 'json');
    expect(looked.length).toBeGreaterThan(20);
    for (const [name, route] of looked) {
      const { status, json } = await served.ask('GET', pathOf(name, route));
      expect(status, name).toBe(200);
      if (route.answer.kind !== 'json') continue;
      expect(route.answer.schema.safeParse(json).error?.issues ?? [], name).toEqual([]);
    }
  });

  it('are what the table says, piece by piece of every stream', async () => {
    const table: readonly [string, Route][] = Object.entries(routes);
    for (const [name, route] of table) {
      if (route.answer.kind !== 'events') continue;
      const answer = await open(served.server, { path: pathOf(name, route) });
      let pieces = 0;
      for await (const { kind, data } of eventsOf(answer)) {
        expect(kind, name).not.toBe('error');
        if (kind === 'end') break;
        expect(route.answer.schema.safeParse(JSON.parse(data)).error?.issues ?? [], name).toEqual([]);
        pieces += 1;
        if (name === 'watchService') break;
      }
      answer.destroy();
      if (name !== 'serviceLogs') expect(pieces, name).toBeGreaterThan(0);
    }
  });

  it('show a job that ran: its end, what it printed, and the bytes of its outputs', async () => {
    const shown = (await served.ask('GET', `/v1/jobs/${job}`)).json;
    expect(shown).toMatchObject({ state: 'COMPLETED', owner: 'admin', outcome: { reason: 'exit', exitCode: 0 } });
    const printed: string[] = [];
    for await (const { kind, data } of eventsOf(await open(served.server, { path: `/v1/jobs/${job}/logs` }))) {
      if (kind === 'end') break;
      const { stream, bytes } = JSON.parse(data) as { stream: string; bytes: string };
      printed.push(`${stream} ${Buffer.from(bytes, 'base64').toString()}`);
    }
    expect(printed.sort()).toEqual(['stderr err\n', 'stdout out\n']);
    const { json } = await served.ask('GET', `/v1/jobs/${job}/outputs/trees`);
    const [tree] = (json as { items: { manifest: string; outputs: object[] }[] }).items;
    expect(tree?.outputs).toMatchObject([
      { path: 'result', state: 'collected', size: 2 },
      { path: 'no', state: 'missing' },
    ]);
    const manifest = await served.ask('GET', `/v1/blobs/${tree?.manifest}`);
    expect(manifest.text).toContain('result');
  });

  it('let a job be run again, under its name and by its id', async () => {
    const again = await served.ask('POST', '/v1/jobs/print/retry', { body: {} });
    expect(again).toMatchObject({ status: 200, json: { id: expect.stringMatching(/^print-/), part: null } });
    expect(pick(again.json, 'id')).not.toBe(job);
    expect((await served.ask('GET', `/v1/jobs/${pick(again.json, 'id')}`)).json).toMatchObject({ retryOf: job });
    expect(await served.ask('POST', '/v1/jobs/none/retry', { body: {} })).toMatchObject({ status: 404 });
  });
});
