import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobHandle, RunningNode, RunyardClient } from '../client/api.ts';
import { Runyard } from '../client/runyard.ts';
import { Server } from './server.ts';

/** The client of a server, used as the one over a home is: against a real server with a node. */

let place: string;
let server: Server;
let own: Runyard;
let node: RunningNode | null;
let yard: RunyardClient;

beforeAll(async () => {
  place = mkdtempSync(join(tmpdir(), 'yard-remote-'));
  const home = join(place, 'server');
  server = await Server.start({ home, listen: { host: '127.0.0.1', port: 0 } });
  own = await Runyard.open({ home });
  node = await own.nodes.start({ name: 'here', cpus: 4 });
  const { url, adminToken, fingerprint } = server;
  yard = await Runyard.connect({ server: url, token: `${adminToken}@${fingerprint}`, home: join(place, 'mine') });
});
afterAll(async () => {
  await yard.close();
  await node?.close();
  await own.close();
  await server.close();
  rmSync(place, { recursive: true, force: true });
});

async function textOf(job: JobHandle): Promise<string> {
  let text = '';
  for await (const piece of job.logs({ follow: true })) text += piece;
  return text;
}

function makeFolder(name: string, files: Readonly<Record<string, string>>): string {
  const folder = join(place, name);
  mkdirSync(folder);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(folder, path), text);
  return folder;
}

describe('a job at a server', () => {
  it('takes its workspace along, prints, and brings its outputs home [S4] [S5]', async () => {
    const large = 'x'.repeat(300_000);
    const folder = makeFolder('work', { 'in.txt': 'größer\n', 'large.bin': large });
    const job = await yard.jobs.submit(
      {
        job: {
          name: 'copy',
          run: 'cat in.txt; cat in.txt large.bin > out.bin; echo done >&2',
          workspace: { workdir: '.' },
          outputs: ['out.bin', 'none.txt'],
        },
      },
      { baseDirectory: folder },
    );
    expect(job.id).toMatch(/^copy-[a-z0-9]{6}$/);
    expect(await textOf(job)).toBe('größer\ndone\n');
    const { state, outcome, owner } = await job.wait();
    expect({ state, exitCode: outcome?.exitCode, owner }).toEqual({ state: 'COMPLETED', exitCode: 0, owner: 'admin' });
    const to = join(place, 'landed');
    const landed = await job.land({ to });
    expect(landed.map(({ path, state: became }) => [path, became])).toEqual([
      ['out.bin', 'collected'],
      ['none.txt', 'missing'],
    ]);
    expect(readFileSync(join(to, 'out.bin'), 'utf8')).toBe(`größer\n${large}`);
    expect(await job.outputs()).toHaveLength(2);
    await expect(job.land({ to, paths: ['other'] })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('is watched to its end, stopped, explained and run again', async () => {
    const job = await yard.jobs.submit({ job: { name: 'long', run: 'echo up; sleep 600' } });
    const states: string[] = [];
    for await (const view of job.watch()) {
      states.push(view.state);
      if (view.tasks[0]?.step === 'run' && !states.includes('stopping')) {
        states.push('stopping');
        await job.stop({ graceMs: 0 });
      }
    }
    expect(states.at(-1)).toBe('FAILED');
    expect((await job.view()).outcome?.reason).toBe('stopped');
    expect((await job.explain()).sentence).toMatch(/^long-\w+ is FAILED/);
    expect(await job.heldUp()).toBeNull();
    const again = await job.retry();
    expect((await again.view()).retryOf).toBe(job.id);
    await again.stop({ graceMs: 0 });
    expect((await again.wait()).state).toBe('FAILED');
  });

  it('is found by prefix and name, listed page by page, and refused as it is at home', async () => {
    const made = await Promise.all([1, 2, 3].map(() => yard.jobs.submit({ job: { name: 'many', run: 'true' } })));
    await Promise.all(made.map((job) => job.wait()));
    const { id } = await yard.jobs.get('many');
    expect(made.map((job) => job.id)).toContain(id);
    const listed = await yard.jobs.list({ all: true, state: 'COMPLETED', owner: 'admin' });
    expect(listed.filter(({ name }) => name === 'many')).toHaveLength(3);
    expect(await yard.jobs.list({ all: true, limit: 2 })).toHaveLength(2);
    await expect(yard.jobs.get('nothing-like-it')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(yard.jobs.submit({ job: { name: 'x', run: 'true', gpus: 1 } })).rejects.toMatchObject({
      code: 'UNKNOWN_KEY',
    });
    const { node: where } = await yard.jobs.preview({
      spec: { name: 'p', run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [] },
      source: {},
      profile: null,
      layers: [],
    });
    expect(where).toBe('here');
  });

  it('submits once for one key, however often it is asked', async () => {
    const document = { job: { name: 'once', run: 'true' } };
    const first = await yard.jobs.submit(document, { idempotencyKey: 'k1' });
    const second = await yard.jobs.submit(document, { idempotencyKey: 'k1' });
    expect(second.id).toBe(first.id);
    await first.wait();
  });

  it('lets a command run beside it, with its streams and its exit code', async () => {
    const job = await yard.jobs.submit({ job: { name: 'host', run: 'echo here > mark; sleep 600' } });
    for await (const view of job.watch()) if (view.tasks[0]?.step === 'run') break;
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const session = await job.exec({
      command: ['sh', '-c', 'cat; echo oops >&2; exit 7'],
      streams: { stdin, stdout, stderr },
    });
    stdin.end('to the command\n');
    expect(await session.ended).toEqual({ exitCode: 7, signal: null, problem: null });
    expect(String(stdout.read())).toBe('to the command\n');
    expect(String(stderr.read())).toBe('oops\n');
    await job.stop({ graceMs: 0 });
    await job.wait();
  });
});

describe('the rest of a server', () => {
  it('keeps services, profiles, projects, tokens and secrets', async () => {
    const applied = await yard.services.apply({
      service: { name: 'web', run: 'sleep 600' },
      profile: { replicas: 1, readiness: { command: 'true', interval: '100ms' } },
    });
    expect(applied).toEqual({ name: 'web', revision: 1, changed: true });
    const service = await yard.services.get('web');
    for await (const view of service.watch()) if (view.ready === 1) break;
    await service.scale(0);
    for await (const view of service.watch()) if (view.replicas.length === 0) break;
    expect((await service.revisions()).map(({ revision }) => revision)).toEqual([1]);
    expect((await service.explain()).sentence).toMatch(/^web is/);
    await service.remove();
    await expect(yard.services.get('web')).rejects.toMatchObject({ code: 'NOT_FOUND' });

    const profile = { profile: { name: 'small', kind: 'job', resources: { cpus: 1 } } };
    expect(await yard.profiles.apply(profile)).toEqual({ revision: 1, changed: true });
    expect((await yard.profiles.list()).map(({ name }) => name)).toEqual(['small']);

    await yard.projects.create('lab', { quota: { queued: 5 } });
    await yard.projects.grant('lab', 'ada', 'member');
    expect((await yard.projects.get('lab')).members).toEqual({ ada: 'member' });
    const { token, id } = await yard.tokens.create({ user: 'ada' });
    expect((await yard.tokens.list()).map((one) => one.id)).toContain(id);
    const { url, fingerprint } = server;
    const ada = await Runyard.connect({ server: url, token, fingerprint, home: join(place, 'ada') });
    expect(await ada.whoAmI()).toMatchObject({ name: 'ada', admin: false, projects: { lab: 'member' } });
    await expect(ada.projects.create('mine')).rejects.toMatchObject({ code: 'FORBIDDEN' });
    await yard.tokens.revoke(id);
    await expect(ada.whoAmI()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await ada.close();

    await yard.secrets.set('hf', 'a value');
    expect((await yard.secrets.list()).map(({ name }) => name)).toEqual(['hf']);
    const job = await yard.jobs.submit({
      job: { name: 'secret', run: 'test "$A" = "a value"', env: { A: { secret: 'hf' } } },
    });
    expect((await job.wait()).state).toBe('COMPLETED');
    await expect(
      yard.jobs.submit({ job: { name: 'secret', run: 'true', env: { A: { secret: 'unset' } } } }),
    ).rejects.toMatchObject({ code: 'SECRET_NOT_SET' });
    await yard.secrets.remove('hf');
  });

  it('tells what happened, also as it happens', async () => {
    const stop = new AbortController();
    const kinds: string[] = [];
    let job: JobHandle | null = null;
    for await (const { kind } of yard.events({ follow: true, signal: stop.signal })) {
      kinds.push(kind);
      job ??= await yard.jobs.submit({ job: { name: 'told', run: 'true' } });
      const isTold = kind === 'JobEnded' && (await job.view()).outcome !== null;
      if (isTold) stop.abort();
    }
    const own = [];
    for await (const event of yard.events({ job: job?.id ?? '' })) own.push(event.kind);
    expect(own.at(0)).toBe('JobSubmitted');
    expect(own).toContain('JobEnded');
  });

  it('has its nodes drained and resumed', async () => {
    await yard.nodes.drain('here', { reason: 'a look inside' });
    expect(await yard.nodes.get('here')).toMatchObject({ reason: expect.stringContaining('a look inside') });
    await yard.nodes.resume('here');
    expect((await yard.nodes.list()).map(({ id, state }) => `${id} ${state}`)).toEqual(['here READY']);
    expect(yard.server).toBe(server.url);
  });
});
