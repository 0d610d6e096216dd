import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventFilter, EventView, JobHandle, RunningNode, RunyardClient } from '../src/client/api.ts';
import { RemoteRunyard } from '../src/client/remote/remote-runyard.ts';
import { Runyard } from '../src/client/runyard.ts';
import { Server } from '../src/server/server.ts';

/** What several people see and may do at one server, each with a token of their own. */

let home: string;
let server: Server;
/** The operating-system user, on the home of the server; with a node. */
let root: Runyard;
let node: RunningNode | null;
const people: RunyardClient[] = [];

/** Somebody with a token of their own. */
async function person(name: string, more: { admin?: boolean; project?: string } = {}): Promise<RunyardClient> {
  const { token } = await root.tokens.create({ user: name, ...more });
  return withToken(token);
}

async function withToken(token: string): Promise<RunyardClient> {
  const own = join(home, `of-${people.length}`);
  mkdirSync(own, { mode: 0o700 });
  const address = { url: server.url, token, fingerprint: server.fingerprint };
  const client = new RemoteRunyard({ address, home: own });
  people.push(client);
  return client;
}

async function refusal(of: Promise<unknown> | AsyncIterable<unknown>): Promise<string> {
  try {
    if (Symbol.asyncIterator in of) for await (const _ of of);
    else await of;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
  return 'done';
}

async function events(of: RunyardClient, filter: EventFilter = {}): Promise<readonly EventView[]> {
  const found: EventView[] = [];
  for await (const event of of.events(filter)) found.push(event);
  return found;
}

async function textOf(job: JobHandle): Promise<string> {
  let text = '';
  for await (const piece of job.logs()) text += piece;
  return text;
}

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'runyard-access-'));
  server = await Server.start({ home, listen: { host: '127.0.0.1', port: 0 }, log: { write: () => {} } });
  root = await Runyard.open({ home });
  node = await root.nodes.start({ name: 'n1', cpus: 8 });
  await root.projects.create('ml');
  await root.projects.create('web');
  await root.projects.grant('ml', 'ada', 'member');
  await root.projects.grant('ml', 'vic', 'viewer');
  await root.projects.grant('ml', 'otto', 'operator');
  await root.projects.grant('web', 'eve', 'admin');
});
afterAll(async () => {
  for (const client of people) await client.close();
  await node?.close();
  await root.close();
  await server.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 5 });
});

const hello = { job: { name: 'hello', run: 'echo hello of ada' } };
const stays = { job: { name: 'stays', run: 'sleep 60' } };

describe('people who share a control plane', () => {
  it('see the jobs of their projects, living and ended, and of no other [X29] [G11]', async () => {
    const [ada, vic, eve] = [await person('ada'), await person('vic'), await person('eve')];
    const job = await ada.jobs.submit(hello, { project: 'ml' });
    await job.wait();
    for (const who of [ada, vic, root]) {
      expect(await textOf(await who.jobs.get(job.id))).toBe('hello of ada\n');
      expect((await who.jobs.list()).map(({ id }) => id)).toEqual([job.id]);
      expect((await events(who, { job: job.id })).length).toBeGreaterThan(3);
      expect((await (await who.jobs.get('hello')).view()).owner).toBe('ada');
    }
    expect(await eve.jobs.list({ all: true })).toEqual([]);
    for (const reference of [job.id, 'hello', job.id.slice(0, 8)]) {
      expect(await refusal(eve.jobs.get(reference))).toBe('NOT_FOUND');
    }
    expect(await events(eve, { job: job.id })).toEqual([]);
    expect((await events(eve)).filter(({ message }) => message.includes(job.id))).toEqual([]);
    expect(await refusal(eve.jobs.submit(hello, { project: 'ml' }))).toBe('NOT_FOUND');
    expect(await refusal(vic.jobs.submit(hello, { project: 'ml' }))).toBe('FORBIDDEN');
    expect(await refusal(eve.jobs.submit(hello, { workspaceOf: job.id, retryOf: job.id, project: 'ml' }))).toBe(
      'NOT_FOUND',
    );
  });

  it('change their own, operators that of others too, and every refused attempt is noted by name [X29] [R4.27]', async () => {
    const [ada, vic, otto, eve] = [await person('ada'), await person('vic'), await person('otto'), await person('eve')];
    const job = await ada.jobs.submit(stays, { project: 'ml' });
    for await (const { state } of job.watch()) if (state === 'RUNNING') break;
    const others = await Promise.all([vic, otto].map((who) => who.jobs.get(job.id)));
    expect(await refusal((others[0] as JobHandle).stop())).toBe('FORBIDDEN');
    expect(await refusal((others[0] as JobHandle).exec({ command: ['true'] }))).toBe('FORBIDDEN');
    expect((await eve.nodes.list()).map(({ tasks }) => tasks)).toEqual([[]]);
    expect((await vic.nodes.list()).map(({ tasks }) => tasks)).toEqual([[`${job.id}.0.0.1`]]);
    await (others[1] as JobHandle).stop({ graceMs: 0 });
    expect((await job.wait()).outcome?.message).toBe('stopped by otto');

    const boss = await person('boss', { admin: true });
    const audit = (await events(boss, { audit: true })).map(({ by, message }) => `${by}: ${message}`);
    expect(audit).toContain(`user vic: user vic was refused StopJob of ${job.id} (FORBIDDEN)`);
    expect(audit).toContain(`user vic: user vic was refused exec of ${job.id} (FORBIDDEN)`);
    expect(audit).toContain(`ada: ${job.id} submitted by ada`);
    expect(audit.find((line) => line.startsWith(`otto: ${job.id} is to stop`))).toBeDefined();
    expect((await events(eve, { audit: true })).some(({ kind }) => kind === 'AccessRefused')).toBe(false);
  });

  it('see and change services by the same roles [X21] [X29]', async () => {
    const [ada, vic, eve] = [await person('ada'), await person('vic'), await person('eve')];
    const service = { service: { name: 'llm', run: 'sleep 60' }, profile: { replicas: 1, port: false } };
    await ada.services.apply(service, { project: 'ml' });
    expect((await vic.services.list()).map(({ name }) => name)).toEqual(['llm']);
    const seen = await vic.services.get('llm');
    expect((await seen.view()).owner).toBe('ada');
    expect(await refusal(seen.scale(2))).toBe('FORBIDDEN');
    expect(await refusal(seen.remove())).toBe('FORBIDDEN');
    expect(await eve.services.list()).toEqual([]);
    expect(await refusal(eve.services.get('llm'))).toBe('NOT_FOUND');
    expect(await refusal(eve.services.apply(service, { project: 'web' }))).toBe('FORBIDDEN');
    // Applied again without a project it stays in its own.
    expect(await ada.services.apply(service)).toMatchObject({ changed: false });
    await (await ada.services.get('llm')).remove();
  });

  it('see GPU and core time of their projects, and of no other [X21] [X29]', async () => {
    const [ada, vic, eve, boss] = [
      await person('ada'),
      await person('vic'),
      await person('eve'),
      await person('boss', { admin: true }),
    ];
    const job = await ada.jobs.submit({ job: { name: 'used', run: 'sleep 0.1' } }, { project: 'ml' });
    await job.wait();
    const rowsOf = async (who: RunyardClient) => (await who.usage({ project: 'ml' })).rows;
    const [row] = await rowsOf(boss);
    expect(row).toMatchObject({ name: 'ml', gpuMs: 0 });
    expect(row?.coreMs).toBeGreaterThanOrEqual(100);
    for (const who of [ada, vic, root]) expect(await rowsOf(who)).toEqual([row]);
    expect((await vic.usage({ by: 'user' })).rows.map(({ name }) => name)).toContain('ada');
    expect((await eve.usage()).rows.find(({ name }) => name === 'ml')).toBeUndefined();
    expect(await refusal(eve.usage({ project: 'ml' }))).toBe('NOT_FOUND');
    const mine = await withToken((await ada.tokens.create({ project: 'default' })).token);
    expect(await refusal(mine.usage({ project: 'ml' }))).toBe('NOT_FOUND');
  });

  it('see projects and tokens as far as they are theirs, and manage what their role says [X29]', async () => {
    const [ada, eve, boss] = [await person('ada'), await person('eve'), await person('boss', { admin: true })];
    expect((await ada.projects.list()).map(({ name }) => name)).toEqual(['default', 'ml']);
    expect((await boss.projects.list()).map(({ name }) => name)).toEqual(['default', 'ml', 'web']);
    expect(await ada.whoAmI()).toEqual({
      name: 'ada',
      admin: false,
      projects: { default: 'member', ml: 'member' },
    });
    expect(await boss.whoAmI()).toMatchObject({ admin: true, projects: { web: 'admin' } });
    expect(new Set((await eve.tokens.list()).map(({ user }) => user))).toEqual(new Set(['eve']));
    expect(await refusal(ada.projects.get('web'))).toBe('NOT_FOUND');
    expect(await refusal(ada.projects.change('ml', { quota: { gpus: 99 } }))).toBe('FORBIDDEN');
    expect(await refusal(ada.projects.grant('ml', 'ada', 'admin'))).toBe('FORBIDDEN');
    await eve.projects.grant('web', 'ada', 'viewer');
    expect((await ada.projects.get('web')).members).toEqual({ ada: 'viewer', eve: 'admin' });
    await eve.projects.revoke('web', 'ada');
    expect(await refusal(ada.tokens.createJoin())).toBe('FORBIDDEN');
    expect(await refusal(ada.nodes.drain('n1'))).toBe('FORBIDDEN');
    expect(await refusal(ada.profiles.apply({ profile: { name: 'big', priority: 9 } }))).toBe('FORBIDDEN');
    expect(await refusal(ada.prune({ olderThanMs: 0 }))).toBe('FORBIDDEN');
    const own = await ada.tokens.create({ project: 'ml' });
    await ada.tokens.revoke(own.id);
  });

  it('have no more of a project than its quota says, and are told the figures [X29] [B10]', async () => {
    const ada = await person('ada');
    await root.projects.change('ml', { quota: { cores: 1, queued: 1, replicas: 2 } });
    const first = await ada.jobs.submit(stays, { project: 'ml' });
    const second = await ada.jobs.submit(stays, { project: 'ml' });
    expect((await second.view()).waiting).toEqual({
      reason: 'quota',
      message: 'needs 1 core, project ml uses 1 of 1 core',
    });
    expect((await second.explain()).sentence).toContain('it needs 1 core, project ml uses 1 of 1 core');
    expect(await refusal(ada.jobs.submit(stays, { project: 'ml' }))).toBe('QUOTA');
    const service = { service: { name: 'wide', run: 'sleep 60' }, profile: { replicas: 3 } };
    expect(await refusal(ada.services.apply(service, { project: 'ml' }))).toBe('QUOTA');
    expect((await ada.projects.get('ml')).used).toEqual({ replicas: 0, gpus: 0, cores: 1, queued: 1 });
    for (const job of [second, first]) await job.stop({ graceMs: 0 });
    await first.wait();
    await root.projects.change('ml', { quota: { cores: null, queued: null, replicas: null } });
  });

  it('are let in no more once their token is revoked [R4.23]', async () => {
    const { id, token } = await root.tokens.create({ user: 'ada' });
    const ada = await withToken(token);
    expect((await ada.whoAmI()).name).toBe('ada');
    await root.tokens.revoke(id);
    expect(await refusal(ada.jobs.submit(hello, { project: 'ml' }))).toBe('UNAUTHORIZED');
    expect(await refusal(ada.jobs.list({ all: true }))).toBe('UNAUTHORIZED');
  });
});

describe('a job', () => {
  it('runs as the user of the agent with no more rights, whatever it brings along [R4.43]', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'runyard-setuid-'));
    writeFileSync(join(directory, 'tool'), '#!/bin/sh\n');
    chmodSync(join(directory, 'tool'), 0o6755);
    const run = 'id -u; stat -c %a tool || stat -f %Lp tool';
    const spec = { name: 'rights', run, workspace: { workdir: '.' } };
    const job = await root.jobs.submit({ job: spec }, { baseDirectory: directory });
    expect((await job.wait()).state).toBe('COMPLETED');
    expect(await textOf(job)).toBe(`${process.getuid?.()}\n755\n`);
    rmSync(directory, { recursive: true });
    for (const key of ['user', 'uid', 'setuid', 'privileged', 'capabilities']) {
      expect(await refusal(root.jobs.submit({ job: { name: 'rights', run, [key]: 'root' } }))).toBe('PRIVILEGE');
      expect(await refusal(root.jobs.submit({ job: { name: 'rights', run }, profile: { [key]: 0 } }))).toBe(
        'PRIVILEGE',
      );
    }
  });
});
