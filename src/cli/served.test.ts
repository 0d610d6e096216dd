import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { RunningNode } from '../client/api.ts';
import { Runyard } from '../client/runyard.ts';
import { Server } from '../server/server.ts';
import { hasTerminals, runInTerminal } from './terminal-run.testsuite.ts';
import { buildYard, makePlace, type Place } from './yard.testsuite.ts';

/** `yard` at a server, as a person on another machine uses it. */

let base: string;
let server: Server;
let own: Runyard;
let node: RunningNode | null;
let place: Place;
let tokenFile: string;

beforeAll(async () => {
  buildYard();
  base = mkdtempSync(join(tmpdir(), 'yard-served-'));
  server = await Server.start({ home: join(base, 'server'), listen: { host: '127.0.0.1', port: 0 } });
  own = await Runyard.open({ home: join(base, 'server') });
  node = await own.nodes.start({ name: 'far', cpus: 4 });
  place = makePlace();
  tokenFile = join(base, 'token');
  writeFileSync(tokenFile, `${server.adminToken}\n`);
});
afterAll(async () => {
  place.remove();
  await node?.close();
  await own.close();
  await server.close();
  rmSync(base, { recursive: true, force: true });
});

describe('yard login', () => {
  it('without a terminal shows the certificate and asks for its fingerprint', async () => {
    const { code, stderr } = await place.yard('login', server.url, '--token-file', tokenFile);
    expect(code).toBe(1);
    expect(stderr).toContain(server.fingerprint);
    expect(stderr).toContain('--fingerprint');
    expect((await place.yard('contexts', '--json')).stdout).not.toContain(server.url);
  });

  it.skipIf(!hasTerminals)('asks at a terminal whether to trust it, and for the token without showing it', async () => {
    const run = runInTerminal(place, ['login', server.url, '--name', 'asked']);
    await run.shown(/Trust it\? \[y\/N\]/);
    run.type('y\r');
    await run.shown(/token for /);
    run.type(`${server.adminToken}\r`);
    const { code, text } = await run.ended;
    expect(code).toBe(0);
    expect(text).toMatch(/asked {2}signed in as admin/);
    expect(text).not.toContain(server.adminToken);
    await place.yard('contexts', 'rm', 'asked');
  });

  it('keeps the server as a context, for its owner alone; there is a way back', async () => {
    const login = await place.yard(
      'login',
      server.url,
      '--token-file',
      tokenFile,
      '--fingerprint',
      server.fingerprint,
      '--name',
      'lab',
    );
    expect(login).toMatchObject({ code: 0, stdout: `lab  signed in as admin  ${server.url}\n` });
    expect(statSync(join(place.home, 'contexts.json')).mode & 0o777).toBe(0o600);
    expect((await place.yard('nodes')).stdout).toMatch(/far +READY/);
    const { stdout } = await place.yard('contexts');
    expect(stdout).toMatch(/lab +yes +admin/);
    expect(stdout).not.toContain('yt_');
    // What comes before the context in use is not passed over.
    const elsewhere = makePlace({ RUNYARD_SERVER: 'https://lab.example.org:7443' });
    const told = await elsewhere.yard('contexts');
    expect([told.code, told.stdout]).toEqual([0, expect.not.stringContaining('yes')]);
    expect(told.stderr).toContain('RUNYARD_SERVER comes first: commands are about https://lab.example.org:7443');
    elsewhere.remove();
    await place.yard('contexts', 'use', 'embedded');
    expect((await place.yard('nodes')).stdout).toMatch(/no nodes/);
    expect((await place.yard('nodes', '--context', 'lab')).stdout).toMatch(/far +READY/);
    expect((await place.yard('contexts', 'use', 'moon')).stderr).toMatch(/there is no context "moon"/);
    await place.yard('contexts', 'use', 'lab');
  });
});

describe('yard at a server', () => {
  it('runs a job there with what lies here, and brings its outputs here [S4] [S5] [S7]', async () => {
    writeFileSync(join(place.directory, 'in.txt'), 'from here\n');
    const { code, stdout, stderr } = await place.yard(
      'run',
      '--output',
      'out.txt',
      '--',
      'sh',
      '-c',
      'tee out.txt < in.txt; exit 3',
    );
    expect({ code, stdout }).toEqual({ code: 3, stdout: 'from here\n' });
    const id = /(sh-\w{6})/.exec(stderr)?.[1] ?? '';
    expect(readFileSync(join(place.directory, 'outputs', id, 'out.txt'), 'utf8')).toBe('from here\n');
    expect((await place.yard('logs', id)).stdout).toBe('from here\n');
    expect(JSON.parse((await place.yard('jobs', id, '--json')).stdout)).toMatchObject({
      id,
      state: 'FAILED',
      owner: 'admin',
      tasks: [{ node: 'far' }],
    });
  });

  it('stops the job at Ctrl-C, and lets go of it at Ctrl-\\ [S8]', async () => {
    const stopped = place.start('run', '--no-workspace', '--', 'sh', '-c', 'echo up; sleep 600');
    await stopped.said(/up/);
    stopped.child.kill('SIGINT');
    expect((await stopped.ended).code).toBe(125);
    const left = place.start('run', '--no-workspace', '--', 'sh', '-c', 'echo up; sleep 600');
    await left.said(/up/);
    left.child.kill('SIGQUIT');
    const { code, stderr } = await left.ended;
    expect(code).toBe(0);
    const id = /yard attach (sh-\w{6})/.exec(stderr)?.[1] ?? '';
    expect((await place.yard('stop', id, '--grace', '0s')).code).toBe(0);
    expect((await place.yard('wait', id)).code).toBe(125);
  });

  it.skipIf(!hasTerminals)(
    'shows jobs and services again in their place as something happens, until Ctrl-C',
    async () => {
      const jobs = runInTerminal(place, ['jobs', '-w']);
      await jobs.shown(/ID +STATE/);
      const { stdout } = await place.yard('submit', '--no-workspace', '--name', 'seen', '--', 'true');
      await jobs.shown(new RegExp(`\\x1b\\[\\d+A[^]*${stdout.trim()} +COMPLETED`));
      jobs.type('\x03');
      expect(await jobs.ended).toMatchObject({ code: 0, text: expect.not.stringContaining('\x1b[H') });
      const services = runInTerminal(place, ['services', '-w']);
      await services.shown(/no services/);
      services.type('\x03');
      expect((await services.ended).code).toBe(0);
      const beat = {
        service: { name: 'beat', run: 'exec sleep 600' },
        profile: { port: false, rollout: { minReady: '0s' } },
      };
      await own.services.apply(beat);
      const one = runInTerminal(place, ['services', 'beat', '-w']);
      // How long it has been up goes on though nothing happens.
      await one.shown(/up 1 s.*up 2 s/s);
      await (await own.services.get('beat')).remove();
      expect(await one.ended).toMatchObject({ code: 0, text: expect.stringContaining('beat  was removed') });
    },
  );

  it.skipIf(!hasTerminals)('runs a command beside a job: pipes in a pipeline, a terminal at a terminal', async () => {
    const { stdout } = await place.yard('submit', '--no-workspace', '--name', 'beside', '--', 'sleep', '600');
    const id = stdout.trim();
    for await (const view of (await own.jobs.get(id)).watch()) if (view.tasks[0]?.step === 'run') break;
    const piped = place.start('exec', id, 'sh', '-c', 'cat; test -t 0 || echo no terminal; exit 9');
    piped.child.stdin?.end('typed\n');
    expect(await piped.ended).toMatchObject({ code: 9, stdout: 'typed\nno terminal\n' });
    const shell = runInTerminal(place, ['exec', id]);
    shell.type('test -t 0 && stty size; echo me: $RUNYARD_JOB\r');
    await shell.shown(new RegExp(`33 101[^]*me: ${id}`));
    // Said by the command itself: what was typed is shown before anything of it runs, and Ctrl-C would reach the shell.
    shell.type(`sh -c "echo be''gun; exec sleep 600"\r`);
    await shell.shown(/begun/);
    shell.type('\x03exit 5\r');
    expect((await shell.ended).code).toBe(5);
    const lost = runInTerminal(place, ['exec', id]);
    const seconds = '600.25';
    lost.type(`(trap "" HUP; exec sleep ${seconds}) & echo be''gun\r`);
    await lost.shown(/begun/);
    lost.hangUp();
    expect((await lost.ended).code).toBe(129);
    const commands = () => execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
    await vi.waitFor(() => expect(commands()).not.toContain(`sleep ${seconds}\n`), { timeout: 30_000, interval: 100 });
    await place.yard('stop', id, '--grace', '0s');
    await place.yard('wait', id);
  });

  it('is told to a script by two variables', async () => {
    const env = { RUNYARD_SERVER: server.url, RUNYARD_TOKEN: `${server.adminToken}@${server.fingerprint}` };
    const script = makePlace(env);
    expect((await script.yard('run', '--no-workspace', '--', 'echo', 'hello')).stdout).toBe('hello\n');
    const { stdout } = await script.yard('submit', '--no-workspace', '--json', '--', 'true');
    expect((await script.yard('wait', JSON.parse(stdout).id)).code).toBe(0);
    expect((await script.yard('jobs', '--context', 'embedded')).stdout).toMatch(/no jobs/);
    script.remove();
  });

  it('says what is wrong when nobody is there, and what to do', async () => {
    const { code, stderr } = await place.yard('jobs', '--server', 'https://127.0.0.1:9');
    expect(code).toBe(1);
    expect(stderr).toMatch(/127\.0\.0\.1:9 cannot be reached: nothing listens there\n +is the server running/);
  });
});
