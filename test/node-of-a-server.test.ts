import { chmodSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandle, RunyardClient } from '../src/client/api.ts';
import { RemoteRunyard } from '../src/client/remote/remote-runyard.ts';
import { Server } from '../src/server/server.ts';
import { endHome, type Finished, type Lab, markedPids, openLab, startTicksOf, until } from './lab.ts';

let lab: Lab;
let server: Server;
let client: RunyardClient;
/** Homes of machines, each as if it were another's. */
let machine: string;
let copy: string;

beforeEach(async () => {
  lab = openLab();
  machine = join(lab.folder, 'machine');
  copy = join(lab.folder, 'copy');
  server = await Server.start({ home: join(lab.folder, 'server'), listen: { host: '127.0.0.1', port: 0 } });
  const { url, fingerprint, adminToken } = server;
  client = new RemoteRunyard({ address: { url, fingerprint, token: adminToken }, home: join(lab.folder, 'user') });
});
afterEach(async () => {
  for (const home of [machine, copy]) await endHome(home);
  await client.close();
  await server.close();
  await lab.close();
});

/** On a machine where nobody is signed in to anything. */
function yard(home: string, ...args: string[]): Promise<Finished> {
  return lab.yard(args, { env: { RUNYARD_HOME: home, RUNYARD_SERVER: '', RUNYARD_TOKEN: '' } });
}

async function joinToken(): Promise<string> {
  const path = join(lab.folder, 'join.token');
  const { token } = await client.tokens.createJoin();
  writeFileSync(path, `${token}@${server.fingerprint}\n`, { mode: 0o600 });
  return path;
}

async function longJob(): Promise<JobHandle> {
  const job = await client.jobs.submit({ job: { name: 'long', run: 'echo begun; exec sleep 300' } });
  for await (const text of job.logs({ follow: true })) if (text.includes('begun')) break;
  return job;
}

function pidOf(home: string, record: 'daemon' | 'supervisor'): number {
  return (JSON.parse(readFileSync(join(home, `nodes/n1/${record}.json`), 'utf8')) as { pid: number }).pid;
}

describe('a node of a server, as it is typed', () => {
  it('joins once with a token, and from then on comes back by yard up alone, with what ran meanwhile [B3]', async () => {
    const token = await joinToken();
    const up = await yard(machine, 'up', '--name', 'n1', '--server', server.url, '--token-file', token);
    expect(up).toMatchObject({ code: 0, stderr: '' });
    expect(up.stdout).toContain(`of ${server.url}`);
    rmSync(token);
    const job = await longJob();
    expect((await yard(machine, 'down', '--name', 'n1')).stderr).toContain('--keep');
    expect((await yard(machine, 'down', '--name', 'n1', '--stop')).stderr).toContain('yard login');
    expect(await yard(machine, 'down', '--name', 'n1', '--keep')).toMatchObject({ code: 0, stdout: 'n1  down\n' });
    expect((await job.view()).state).toBe('RUNNING');
    expect(markedPids(machine).length).toBeGreaterThan(0);
    expect(await yard(machine, 'up', '--name', 'n1')).toMatchObject({ code: 0 });
    expect((await client.nodes.get('n1')).tasks).toEqual([`${job.id}.0.0.1`]);
    await job.stop({ graceMs: 0 });
    expect((await job.wait()).outcome).toMatchObject({ reason: 'stopped' });
  });

  it('copied with its disk lives on in the copy: the older agent ends, with what it ran, and stays down', async () => {
    await yard(machine, 'up', '--name', 'n1', '--server', server.url, '--token-file', await joinToken());
    await longJob();
    const [agent, supervisor] = [pidOf(machine, 'daemon'), pidOf(machine, 'supervisor')];
    cpSync(machine, copy, {
      recursive: true,
      filter: (path) => !/ballast$|(daemon|agent|supervisor)\.json$/.test(path),
    });
    expect(await yard(copy, 'up', '--name', 'n1')).toMatchObject({ code: 0 });
    await until(() => [agent, supervisor].every((pid) => startTicksOf(pid) === null), 'the end of the older agent');
    expect(markedPids(machine)).toEqual([]);
    expect(existsSync(join(machine, 'nodes/n1/supervisor.json'))).toBe(false);
    expect(readFileSync(join(machine, 'nodes/n1/agent.log'), 'utf8')).toContain(
      'another agent has taken over the node',
    );
    expect((await client.nodes.get('n1')).agentRunning).toBe(true);
  });

  it('outlives a stranger in the place of its server, and comes back to the right one with its work [I16] [C9]', async () => {
    await yard(machine, 'up', '--name', 'n1', '--server', server.url, '--token-file', await joinToken());
    const job = await longJob();
    const { home, port } = { home: join(lab.folder, 'server'), port: Number(new URL(server.url).port) };
    await server.close();
    const stranger = await Server.start({ home: join(lab.folder, 'stranger'), listen: { host: '127.0.0.1', port } });
    const log = join(machine, 'nodes/n1/agent.log');
    await until(() => readFileSync(log, 'utf8').includes('is not the server that was trusted'), 'the stranger');
    await stranger.close();
    server = await Server.start({ home, listen: { host: '127.0.0.1', port } });
    await until(async () => (await client.nodes.get('n1')).agentRunning, 'the node');
    expect(await job.view()).toMatchObject({ state: 'RUNNING', attempt: 1 });
  });

  it('ends when it is told to while it waits for its server', async () => {
    await yard(machine, 'up', '--name', 'n1', '--server', server.url, '--token-file', await joinToken());
    await yard(machine, 'down', '--name', 'n1', '--keep');
    await server.close();
    const waiting = lab.start(['node', 'start', '--name', 'n1'], {
      env: { RUNYARD_HOME: machine, RUNYARD_SERVER: '' },
    });
    await waiting.printed(/cannot be reached/);
    waiting.child.kill('SIGTERM');
    expect(await waiting.finished).toMatchObject({ code: 0 });
    server = await Server.start({ home: join(lab.folder, 'server'), listen: { host: '127.0.0.1', port: 0 } });
  });

  it('is refused with a token that was used, and says what to do', async () => {
    const token = await joinToken();
    await yard(machine, 'up', '--name', 'n1', '--server', server.url, '--token-file', token);
    const second = await yard(copy, 'node', 'start', '--name', 'n2', '--server', server.url, '--token-file', token);
    expect(second.code).toBe(78);
    expect(second.stderr).toContain('yard tokens create --join');
    const kept = await yard(copy, 'up', '--name', 'n2', '--server', server.url, '--token-file', token);
    expect(kept.stderr).toContain('it is not started again');
    const without = await yard(copy, 'node', 'start', '--name', 'n2', '--server', server.url);
    expect(without.stderr).toContain('--token-file');
  });

  it('whose name, home or token is wrong is refused at once, and nothing goes on in the background [X11] [R4.13]', async () => {
    const made = await lab.yard(['tokens', 'create', '--join', '--quiet'], {
      env: {
        RUNYARD_HOME: copy,
        RUNYARD_SERVER: server.url,
        RUNYARD_TOKEN: `${server.adminToken}@${server.fingerprint}`,
      },
    });
    // With one fingerprint, and with no second one behind it.
    expect(made.stdout).toMatch(/^yj_[0-9a-z]+_[0-9a-f]{64}@sha256:[0-9a-f]{64}\n$/);
    await yard(machine, 'up', '--name', 'n1', '--server', server.url, '--token-file', await joinToken());
    const taken = await yard(copy, 'up', '--name', 'n1', '--server', server.url, '--token-file', await joinToken());
    expect(taken.stderr).toMatch(/there is a node n1 already[\s\S]*it is not started again/);
    const badName = await yard(
      copy,
      'up',
      '--name',
      '../n9',
      '--server',
      server.url,
      '--token-file',
      await joinToken(),
    );
    expect(badName.stderr).toMatch(/"\.\.\/n9" is not a name/);
    expect(existsSync(join(copy, 'n9'))).toBe(false);
    chmodSync(copy, 0o755);
    const open = await yard(copy, 'up', '--name', 'n2', '--server', server.url, '--token-file', await joinToken());
    expect(open.stderr).toMatch(/has mode 755[\s\S]*it is not started again/);
    chmodSync(copy, 0o700);
  });
});
