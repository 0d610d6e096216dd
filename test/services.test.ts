import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunyardClient } from '../src/client/api.ts';
import type { ServiceView } from '../src/core/service/view.ts';
import { type Finished, type Lab, listFolders, markedPids, openLab, type Running, until } from './lab.ts';

/** Answers with who it is; goes on answering for a moment when it is asked to end, as a server behind a balancer does. */
const server = `import { createServer } from 'node:http';
const web = createServer((_request, response) => {
  response.end(JSON.stringify({ pid: process.pid, version: process.env.VERSION, a: process.env.A ?? null }));
});
web.listen(Number(process.env.PORT), '127.0.0.1', () => console.log('listening as', process.env.VERSION));
process.on('SIGTERM', () => setTimeout(() => process.exit(0), 400));
`;

interface Asked {
  readonly version: string;
  readonly a?: string;
  readonly run?: string;
  readonly cpus?: number;
  readonly replicas?: number;
  readonly deadline?: string;
}

function serviceFile({ version, a, run, cpus, replicas, deadline }: Asked): string {
  return `[service]
name = "web"
run = ${JSON.stringify(run ?? `exec ${process.execPath} server.mjs`)}
workspace = { workdir = "web" }
env = { VERSION = "${version}"${a === undefined ? '' : `, A = "${a}"`} }

[profile]
${replicas === undefined ? '' : `replicas = ${replicas}`}
resources = { cpus = ${cpus ?? 0.1} }
grace = "2s"
restart = { backoff = { initial = "100ms", max = "1s" } }
readiness = { http = "/", interval = "100ms" }
rollout = { minReady = "200ms", progressDeadline = "${deadline ?? '30s'}" }
`;
}

let lab: Lab;
let yard: RunyardClient;

beforeAll(async () => {
  lab = openLab();
  mkdirSync(join(lab.folder, 'web'));
  writeFileSync(join(lab.folder, 'web/server.mjs'), server);
  await lab.yard(['up', '--cpus', '4']);
  yard = await lab.client();
});
afterAll(async () => {
  await yard.close();
  await lab.yard(['down', '--stop']);
  await lab.close();
});

/** The file lies outside the workspace: a change of it is a change of what it says and of nothing else. */
function apply(asked: Asked): Promise<Finished> {
  return startApply(asked).finished;
}

function startApply(asked: Asked): Running {
  writeFileSync(join(lab.folder, 'web.toml'), serviceFile(asked));
  return lab.start(['apply', 'web.toml']);
}

async function seen(): Promise<ServiceView> {
  const { stdout } = await lab.yard(['services', 'web', '--json']);
  return JSON.parse(stdout) as ServiceView;
}

interface Answer {
  readonly pid: number;
  readonly version: string;
  readonly a: string | null;
}

async function ask(endpoint: string): Promise<Answer> {
  const response = await fetch(`http://${endpoint}/`, { headers: { connection: 'close' } });
  return (await response.json()) as Answer;
}

async function askAll(): Promise<readonly Answer[]> {
  return Promise.all((await seen()).endpoints.map(({ endpoint }) => ask(endpoint)));
}

/** What must not change when others come and go. */
function identities(view: ServiceView): readonly unknown[] {
  return view.replicas
    .filter((replica) => replica.ready)
    .map(({ id, startedAt, tasks }) => [id, startedAt, tasks[0]?.restarts, tasks[0]?.endpoint]);
}

async function settled(desired: number): Promise<void> {
  await until(async () => {
    const { ready, replicas } = await (await yard.services.get('web')).view();
    return ready === desired && replicas.length === desired;
  }, `${desired} ready replicas and no other`);
}

describe.sequential('a service on one node', () => {
  it('comes up with two replicas, each of which answers at its endpoint [X20] [X27] [X32]', async () => {
    const { code, stdout, stderr } = await apply({ version: '1', a: 'one', replicas: 2 });
    expect([code, stdout]).toEqual([0, 'web  revision 1\n']);
    expect(stderr).toMatch(
      /web {2}RUNNING {13}revision 1, 2 of 2 ready\n {2}replica 0 {2}127\.0\.0\.1:\d+\n {2}replica 1 {2}/,
    );
    const answers = await askAll();
    expect(answers.map(({ version, a }) => [version, a])).toEqual([
      ['1', 'one'],
      ['1', 'one'],
    ]);
    expect(new Set(answers.map(({ pid }) => pid)).size).toBe(2);
    expect((await apply({ version: '1', a: 'one', replicas: 2 })).stdout).toBe('web  unchanged\n');
  });

  it('is found by its name in logs, events and explanations; its replicas are jobs [X21] [X33] [B10]', async () => {
    const { replicas } = await seen();
    const { stdout } = await lab.yard(['logs', 'web']);
    expect(stdout.trim().split('\n').sort()).toEqual(replicas.map(({ id }) => `${id}  listening as 1`).sort());
    expect((await lab.yard(['explain', 'web'])).stdout).toMatch(/^web is RUNNING: 2 of 2 ready on revision 1\n/);
    const events = (await lab.yard(['events', 'web'])).stdout;
    expect(events).toContain('ServiceApplied');
    expect(events).toContain('JobStarted');
    expect(events).not.toContain('NodeJoined');
    const job = JSON.parse((await lab.yard(['jobs', replicas[0]?.id ?? '', '--json'])).stdout);
    expect(job).toMatchObject({ kind: 'service', service: 'web', replica: 0, state: 'RUNNING' });
    expect((await lab.yard(['stop', 'web'])).stderr).toContain('web is a service, not a job\n  yard services stop web');
    expect((await lab.yard(['wait', 'web'])).stderr).toContain(
      'web is a service, not a job\n  yard services --watch web',
    );
    expect((await lab.yard(['attach', 'web'])).stderr).toContain('web is a service, not a job\n  yard logs -f web');
  });

  it('restarts a killed replica in place, and says how often and why [X1] [X7]', async () => {
    const before = await seen();
    const [first] = before.replicas;
    const endpoint = first?.tasks[0]?.endpoint ?? '';
    const { pid } = await ask(endpoint);
    process.kill(pid, 'SIGKILL');
    await until(async () => (await seen()).replicas[0]?.tasks[0]?.restarts === 1, 'the restart');
    await settled(2);
    const after = await seen();
    expect(after.replicas.map(({ id }) => id)).toEqual(before.replicas.map(({ id }) => id));
    expect(after.replicas[0]?.tasks[0]).toMatchObject({ restarts: 1, endpoint });
    expect(after.replicas[0]?.tasks[0]?.lastFailure).toContain('signal 9');
    expect((await ask(endpoint)).pid).not.toBe(pid);
    expect((await lab.yard(['services', 'web'])).stdout).toMatch(/ready +\S+ +1 +127\.0\.0\.1:\d+ +.*signal 9/);
  });

  it('loses no request during a rolling update, and a variable that was removed is gone [X25] [C32]', async () => {
    const service = await yard.services.get('web');
    const end = new AbortController();
    let endpoints: readonly string[] = (await service.view()).endpoints.map((one) => one.endpoint);
    const watching = (async () => {
      for await (const view of service.watch({ signal: end.signal }))
        endpoints = view.endpoints.map((one) => one.endpoint);
    })();
    const answered: string[] = [];
    const asking = (async () => {
      for (let turn = 0; !end.signal.aborted; turn += 1) {
        const endpoint = endpoints[turn % endpoints.length];
        if (endpoint === undefined) throw new Error('no endpoint was ready');
        answered.push((await ask(endpoint)).version);
      }
    })();
    const { code, stdout } = await apply({ version: '2', replicas: 2 });
    end.abort();
    await asking;
    await watching;
    expect([code, stdout]).toEqual([0, 'web  revision 1 → 2\n']);
    expect(new Set(answered)).toEqual(new Set(['1', '2']));
    expect((await askAll()).map(({ version, a }) => [version, a])).toEqual([
      ['2', null],
      ['2', null],
    ]);
  });

  it('fails an update to a missing program at its deadline and touches nothing that serves [C3] [X25]', async () => {
    const before = { identities: identities(await seen()), pids: (await askAll()).map(({ pid }) => pid) };
    const beganMs = performance.now();
    const { code, stderr } = await apply({ version: '3', run: 'exec ./no-such-program', replicas: 2, deadline: '2s' });
    expect(code).toBe(1);
    expect(performance.now() - beganMs).toBeLessThan(15_000);
    expect(stderr).toMatch(/web {2}FAILED {2}rollout to revision 3 failed: .*no-such-program/);
    expect(stderr).toContain('  revision 2 serves on: 2 of 2 ready\n');
    expect(stderr).toContain('  yard services rollout undo web\n');
    expect(identities(await seen())).toEqual(before.identities);
    expect((await askAll()).map(({ pid }) => pid)).toEqual(before.pids);
    expect((await lab.yard(['services', 'rollout', 'undo', 'web'])).code).toBe(0);
    await settled(2);
    expect(await seen()).toMatchObject({ revision: 2, state: 'RUNNING' });
    expect((await askAll()).map(({ pid }) => pid)).toEqual(before.pids);
  });

  it('fails an update that cannot be placed with "no capacity", while the old replicas serve on [C1]', async () => {
    const pids = (await askAll()).map(({ pid }) => pid);
    const { code, stderr } = await apply({ version: '4', cpus: 64, replicas: 2, deadline: '1s' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/FAILED {2}rollout to revision \d failed: no capacity: web-\w{6} needs 64 cores/);
    expect((await askAll()).map(({ pid }) => pid)).toEqual(pids);
    await lab.yard(['services', 'rollout', 'undo', 'web']);
    await settled(2);
  });

  it('goes back to a revision by its number, and forward again [X25] [X28]', async () => {
    expect((await lab.yard(['services', 'rollout', 'undo', 'web', '--to', '1'])).code).toBe(0);
    await until(async () => (await seen()).rollout?.state === 'done', 'the way back');
    expect((await askAll()).map(({ version, a }) => [version, a])).toEqual([
      ['1', 'one'],
      ['1', 'one'],
    ]);
  });

  it('scales by replicas alone without a rollout: 1, 4, 2, and the one named goes first [X24]', async () => {
    const { revision } = await seen();
    expect((await lab.yard(['services', 'scale', 'web', '1'])).code).toBe(0);
    await settled(1);
    const { code, stdout } = await apply({ version: '1', a: 'one', replicas: 4 });
    expect([code, stdout]).toEqual([0, 'web  scaled to 4\n']);
    await settled(4);
    const four = (await seen()).replicas.map(({ id }) => id);
    const [oldest = '', second = ''] = four;
    expect((await lab.yard(['services', 'scale', 'web', '2', '--remove', oldest])).code).toBe(0);
    await settled(2);
    const left = (await seen()).replicas.map(({ id }) => id);
    expect(left).toContain(second);
    expect(left).not.toContain(oldest);
    expect((await seen()).revision).toBe(revision);
  });

  it('replaces a replica that is stopped by hand [X26]', async () => {
    const [first] = (await seen()).replicas;
    const { stderr } = await lab.yard(['stop', first?.id ?? '']);
    expect(stderr).toContain('web replaces it; with fewer replicas: yard services scale web N');
    await until(async () => (await seen()).replicas.every(({ id }) => id !== first?.id), 'the end of the replica');
    await settled(2);
    expect((await lab.yard(['wait', first?.id ?? ''])).stderr).toContain(
      'yard services web shows what takes its place',
    );
    const retried = await lab.yard(['retry', first?.id ?? '']);
    expect([retried.code, retried.stdout]).toEqual([1, '']);
    expect(retried.stderr).toContain(`${first?.id} was a replica of service web`);
  });

  it('keeps a service that is stopped, and starts it again when it is applied [X20]', async () => {
    expect((await lab.yard(['services', 'stop', 'web'])).stdout).toContain('web  STOPPED');
    expect((await lab.yard(['services', 'scale', 'web', '2'])).stdout).toContain('web  STOPPED, 2 wanted once');
    await until(() => markedPids(lab.home).length === 0, 'the end of the processes');
    expect(await seen()).toMatchObject({ state: 'STOPPED', desired: 2, endpoints: [] });
    const { code, stdout } = await apply({ version: '1', a: 'one' });
    expect([code, stdout]).toEqual([0, 'web  started\n']);
    expect((await askAll()).map(({ version }) => version)).toEqual(['1', '1']);
  });

  it('goes on with a rollout after everything was killed in the middle of it [X28] [G9]', async () => {
    const going = startApply({ version: '5', replicas: 2 });
    await going.printed(/stopping/);
    for (const node of listFolders(join(lab.home, 'nodes'))) {
      const { pid } = JSON.parse(readFileSync(join(lab.home, 'nodes', node, 'agent.json'), 'utf8')) as { pid: number };
      process.kill(pid, 'SIGKILL');
    }
    for (const pid of markedPids(lab.home)) process.kill(pid, 'SIGKILL');
    await lab.yard(['up', '--cpus', '4']);
    expect((await going.finished).code).toBe(0);
    await settled(2);
    expect(await seen()).toMatchObject({ state: 'RUNNING', rollout: { state: 'done' } });
    expect((await askAll()).map(({ version }) => version)).toEqual(['5', '5']);
  });

  it('leaves no process and no port when it is removed [X26]', async () => {
    const endpoints = (await seen()).endpoints.map(({ endpoint }) => endpoint);
    expect((await lab.yard(['services', 'rm', 'web'])).stdout).toBe('web  removed, 2 replicas are stopping\n');
    await until(() => markedPids(lab.home).length === 0, 'the end of the processes');
    for (const endpoint of endpoints) await expect(ask(endpoint)).rejects.toThrow();
    expect(await lab.yard(['services', 'web'])).toMatchObject({ code: 1 });
    expect((await lab.yard(['services'])).stdout).toBe('no services (yard apply FILE makes one)\n');
  });
});
