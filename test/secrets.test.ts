import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobHandle, RunningNode } from '../src/client/api.ts';
import { Runyard } from '../src/client/runyard.ts';
import { setNodeSecret } from '../src/client/secrets/node-local.ts';
import { createCanary } from './canary.ts';
import { type Finished, type Lab, markedPids, openLab, until } from './lab.ts';

const canary = createCanary('cAnAry/7f3+d9a1e4b8c2/of a secret, with "quotes"');

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

function write(name: string, text: string): string {
  const folder = join(lab.folder, 'work');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
  return folder;
}

/** What is said of it anywhere: by every command that shows something. */
async function everythingShown(job: string): Promise<readonly Finished[]> {
  const asked = [
    ['jobs', '--all', '--json'],
    ['jobs', job, '--json'],
    ['jobs', job],
    ['explain', job],
    ['events', '--json'],
    ['secrets', '--json'],
    ['nodes', '--json'],
    ['services', '--json'],
  ];
  const shown: Finished[] = [];
  for (const words of asked) shown.push(await lab.yard(words));
  expect(shown.every(({ code }) => code === 0)).toBe(true);
  return shown;
}

/** What a command beside a job prints (`yard exec`). */
async function said(job: JobHandle, command: string): Promise<string> {
  const stdout = new PassThrough();
  const streams = { stdin: null, stdout, stderr: new PassThrough() };
  const session = await job.exec({ command: ['sh', '-c', command], streams });
  void session.ended.then(() => stdout.end());
  return text(stdout);
}

describe('a canary secret', () => {
  it('of a job that fails and prints its environment’s names is found nowhere but in the job [C26] [G14] [R4.25]', async () => {
    const folder = write(
      'job.toml',
      `[job]
name = "leaky"
setup = "env | cut -d= -f1; test -n \\"$TOKEN\\""
run = """
env | cut -d= -f1
printf %s "$TOKEN" | cksum
cksum < "$KEY_FILE"
stat -c %a "$KEY_FILE"
echo "$KEY_FILE" > place
until [ -e go ]; do sleep 0.05; done
exit 7
"""
env = { TOKEN = { secret = "hf" }, KEY_FILE = { secret = "hf", file = true } }
outputs = ["place"]
`,
    );
    const set = await lab.yard(['secrets', 'set', 'hf'], { input: `${canary.value}\n` });
    expect([set.code, set.stdout, set.stderr]).toEqual([0, 'hf  set\n', '']);
    await lab.yard(['up', '--name', 'n']);
    const submitted = await lab.yard(['submit', 'job.toml'], { cwd: folder });
    const id = submitted.stdout.trim();
    const workdir = join(lab.home, `nodes/n/attempts/${id}.0.0.1/work`);
    await until(() => existsSync(join(workdir, 'place')), 'the job');
    const path = readFileSync(join(workdir, 'place'), 'utf8').trim();

    expect(canary.isIn(readFileSync(path))).toBe(true);
    expect(path.startsWith(lab.home)).toBe(!existsSync('/dev/shm'));
    expect(canary.processesWithIt()).toEqual([]);
    expect(canary.filesWithIt(lab.home, folder)).toEqual(path.startsWith(lab.home) ? [path] : []);

    writeFileSync(join(workdir, 'go'), '');
    const waited = await lab.yard(['wait', id]);
    expect(waited.code).toBe(7);
    const logs = await lab.yard(['logs', id]);
    expect(logs.stdout).toMatch(/^TOKEN$/m);
    expect(logs.stdout.match(/^\d+ 48$/gm)).toHaveLength(2);
    expect(logs.stdout).toMatch(/^600$/m);

    for (const { stdout, stderr } of [set, submitted, waited, logs, ...(await everythingShown(id))]) {
      expect(canary.isIn(stdout + stderr)).toBe(false);
    }
    expect(existsSync(path)).toBe(false);
    await lab.yard(['down', '--name', 'n']);
    expect(canary.filesWithIt(lab.home, lab.folder, '/dev/shm')).toEqual([]);
  });

  it('is no argument of any command, and is not shown when somebody tries [R4.25]', async () => {
    for (const words of [
      ['secrets', 'set', 'hf', canary.value],
      ['secrets', 'set', 'hf', '--', canary.value],
    ]) {
      const tried = await lab.yard(words);
      expect(tried.code).toBe(2);
      expect(canary.isIn(tried.stdout + tried.stderr)).toBe(false);
    }
    expect((await lab.yard(['secrets', 'set', 'hf'])).stderr).toContain('there is no value for the secret');
    expect(JSON.parse((await lab.yard(['secrets', '--json'])).stdout)).toEqual([]);
  });

  it('set from a file keeps every byte, and the key of the home is its owner’s alone [R4.26]', async () => {
    const folder = write('token', `${canary.value}\n`);
    const { code } = await lab.yard(['secrets', 'set', 'HF_TOKEN', '--from-file', 'token'], { cwd: folder });
    expect(code).toBe(0);
    expect(statSync(join(lab.home, 'secrets.key')).mode & 0o777).toBe(0o600);
    const count = 'printf %s "$HF_TOKEN" | wc -c';
    const ran = await lab.yard(['run', '--secret', 'HF_TOKEN', '--no-workspace', '--', 'sh', '-c', count]);
    expect(ran.stdout.trim()).toBe(String(canary.value.length + 1));
    expect(canary.filesWithIt(lab.home)).toEqual([]);
  });

  it('that is not set is refused with the line that names it, for jobs and services, before anything is done [U7]', async () => {
    const env = 'env = { TOKEN = { secret = "hf" } }\n';
    const folder = write('job.toml', `[job]\nname = "a"\nrun = "true"\n${env}`);
    write('service.toml', `[service]\nname = "a"\nrun = "true"\n${env}`);
    for (const [words, file, code] of [
      [['run'], 'job.toml', 125],
      [['submit', 'job.toml'], 'job.toml', 1],
      [['submit', 'job.toml', '--dry-run'], 'job.toml', 1],
      [['apply', 'service.toml'], 'service.toml', 1],
    ] as const) {
      const refused = await lab.yard(words, { cwd: folder });
      expect(refused.stderr).toBe(`error: secret "hf" is not set (${file}:4 env.TOKEN)\n  yard secrets set hf\n`);
      expect(refused.code).toBe(code);
    }
  });
});

describe('a value that is set anew', () => {
  let client: Runyard;
  let node: RunningNode | null = null;
  const startNode = async (): Promise<RunningNode> => {
    const started = await client.nodes.start({ name: 'n', wait: true });
    if (started === null) throw new Error('the node is taken');
    node = started;
    return started;
  };
  beforeEach(async () => {
    client = await Runyard.open({ home: lab.home });
  });
  afterEach(async () => {
    await node?.close();
    await client.close();
  });

  it('reaches the next start of a replica and not the one that runs, nor its probes and yard exec [G14] [R4.25]', async () => {
    await client.secrets.set('hf', canary.value);
    await startNode();
    const probe = 'test "$TOKEN" = "$(tail -1 seen)"';
    await client.services.apply({
      service: {
        name: 'web',
        run: 'echo "$TOKEN" >> seen; echo "$TOKEN $(cat "$FILE")" >> "$OUT"; exec sleep 300',
        env: { TOKEN: { secret: 'hf' }, FILE: { secret: 'hf', file: true }, OUT: join(lab.folder, 'out') },
      },
      profile: {
        restart: { backoff: { initial: '0s', max: '0s' } },
        startup: { command: probe, interval: '100ms', failures: 100 },
        liveness: { command: probe, interval: '100ms', failures: 1 },
        readiness: { command: probe, interval: '100ms' },
      },
    });
    const out = (): readonly string[] =>
      existsSync(join(lab.folder, 'out')) ? readFileSync(join(lab.folder, 'out'), 'utf8').trim().split('\n') : [];
    const service = await client.services.get('web');
    await until(async () => (await service.view()).ready === 1, 'the replica');
    const [replica] = (await service.view()).replicas;
    const job = await client.jobs.get(replica?.id ?? '');
    await client.secrets.set('hf', 'second');
    expect(await said(job, 'echo "$TOKEN"')).toBe(`${canary.value}\n`);
    // Another agent takes over: it knows what the replica was started with as well.
    await node?.close();
    await startNode();
    await until(async () => (await service.view()).ready === 1, 'the replica after its agent restarted');
    const first = `${canary.value} ${canary.value}`;
    expect(out()).toEqual([first]);
    expect(canary.filesWithIt(lab.home).filter((path) => !path.endsWith('/work/seen'))).toEqual([]);
    expect(canary.processesWithIt()).toEqual([]);
    for (const pid of markedPids(lab.home)) process.kill(pid, 'SIGKILL');
    await until(() => out().length === 2, 'the restart');
    expect(out()).toEqual([first, 'second second']);
    expect(await said(job, 'echo "$TOKEN"; cat "$FILE"')).toBe('second\nsecond');
    await service.remove();
    await until(async () => (await client.jobs.list()).every(({ state }) => state !== 'RUNNING'), 'the end');
  });

  it('goes from the memory of the node even when the agent was not there at the end [G14]', async () => {
    await client.secrets.set('hf', 'value');
    const agent = await startNode();
    const env = { FILE: { secret: 'hf', file: true } };
    const job = await client.jobs.submit({ job: { name: 'a', run: 'echo $FILE > place; exec sleep 300', env } });
    const place = join(lab.home, `nodes/n/attempts/${job.id}.0.0.1/work/place`);
    await until(() => existsSync(place) && readFileSync(place, 'utf8').endsWith('\n'), 'the job');
    const path = readFileSync(place, 'utf8').trim();
    await agent.close();
    expect(readFileSync(path, 'utf8')).toBe('value');
    for (const pid of markedPids(lab.home)) process.kill(pid, 'SIGKILL');
    await startNode();
    expect((await job.wait()).outcome?.signal).toBe(9);
    await until(() => !existsSync(path), 'the file to go');
  });

  it('ends a job with the reason when it cannot be given to it, and says no value', async () => {
    await client.secrets.set('binary', Uint8Array.from([0xff, 0x00, 0xfe]));
    await startNode();
    const run = (env: Readonly<Record<string, unknown>>): Promise<string> =>
      client.jobs.submit({ job: { name: 'a', run: 'wc -c < $B', env } }).then(async (job) => {
        const { outcome } = await job.wait();
        return `${outcome?.reason}: ${outcome?.message}`;
      });
    expect(await run({ B: { secret: 'binary' } })).toBe(
      'node-fault: secret "binary" is no text: give it as a file (file = true)',
    );
    expect(await run({ B: { secret: 'binary', file: true } })).toBe('exit: exited with code 0');
  });

  it('that stays on a node is told by name alone, at once, and jobs that need it go there', async () => {
    await startNode();
    await setNodeSecret({ home: lab.home, node: 'n', name: 'site' }, canary.value);
    await until(async () => (await client.secrets.list()).length === 1, 'the name');
    expect(await client.secrets.list()).toEqual([
      { project: null, name: 'site', setBy: null, setAt: null, nodes: ['n'], closedTo: [] },
    ]);
    const run = 'test "$SITE" = "$EXPECTED"';
    const job = await client.jobs.submit({
      job: {
        name: 'a',
        run: `printf %s "$SITE" | wc -c; ${run.replace('$EXPECTED', '$SITE')}`,
        env: { SITE: { secret: 'site' } },
      },
    });
    expect((await job.wait()).state).toBe('COMPLETED');
    let printed = '';
    for await (const piece of job.logs()) printed += piece;
    expect(printed.trim()).toBe(String(canary.value.length));
    expect(canary.filesWithIt(lab.home)).toEqual([]);
  });
});
