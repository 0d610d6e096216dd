import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedClient, type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';

let lab: EmbeddedLab;
let client: EmbeddedClient;

const smi = `#!/bin/sh
case "$*" in
  *--query-gpu=*) printf '0, GPU-aaaa, NVIDIA H100 80GB HBM3, 81559\\n1, GPU-bbbb, NVIDIA H100 80GB HBM3, 81559\\n' ;;
  *) : ;;
esac
`;

beforeEach(async () => {
  lab = openEmbeddedLab();
  const bin = join(lab.home, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'nvidia-smi'), smi);
  chmodSync(join(bin, 'nvidia-smi'), 0o755);
  client = await lab.open((host) => ({
    ...host,
    machine: { ...host.machine, path: () => `${bin}:${host.machine.path()}` },
  }));
});
afterEach(() => lab.close());

async function output(name: string, profile: object, run: string): Promise<string> {
  const job = await client.jobs.submit({ job: { name, run }, profile: { ...profile } });
  await job.wait();
  let text = '';
  for await (const piece of job.logs()) text += piece;
  return text;
}

describe('the GPUs of a node', () => {
  it('are seen through nvidia-smi, given out by UUID, and hidden from a job that asked for none [G7] [U4]', async () => {
    const node = await client.nodes.start({ name: 'n', cpus: 4 });
    expect((await client.nodes.get('n')).gpus.map(({ uuid }) => uuid)).toEqual(['GPU-aaaa', 'GPU-bbbb']);
    expect(await output('none', {}, 'echo "[$CUDA_VISIBLE_DEVICES]"')).toBe('[]\n');
    expect(await output('one', { resources: { gpus: 1 } }, 'echo "$CUDA_VISIBLE_DEVICES"')).toBe('GPU-aaaa\n');
    expect(await output('all', { resources: { gpus: 'all' } }, 'echo "$CUDA_VISIBLE_DEVICES"')).toBe(
      'GPU-aaaa,GPU-bbbb\n',
    );
    await node?.close();
  });

  it('are never given to two jobs at once: the second waits and says for what [I8] [B10]', async () => {
    const node = await client.nodes.start({ name: 'n', cpus: 4, gpus: 1 });
    const first = await client.jobs.submit({
      job: { name: 'first', run: 'read x < gate || true', env: {} },
      profile: { resources: { gpus: 1 }, grace: '1s' },
    });
    const holder = await client.jobs.submit({
      job: { name: 'holder', run: ['sleep', '300'] },
      profile: { resources: { gpus: 1 }, grace: '1s' },
    });
    await first.wait();
    const waits = await client.jobs.submit({
      job: { name: 'waits', run: 'true' },
      profile: { resources: { gpus: 1 } },
    });
    expect((await waits.view()).waiting).toMatchObject({ reason: 'busy', message: expect.stringContaining('1 GPU') });
    await holder.stop();
    expect(await waits.wait()).toMatchObject({ state: 'COMPLETED' });
    const never = await client.jobs.submit({
      job: { name: 'never', run: 'true' },
      profile: { resources: { gpus: 2 } },
    });
    expect((await never.explain()).sentence).toContain('needs 2 GPUs, the largest node has 1 GPU');
    await node?.close();
  });
});

describe('a port', () => {
  it('is picked by the agent, passed as $PORT, and shown as the endpoint once it accepts [G2]', async () => {
    const node = await client.nodes.start({ name: 'n', cpus: 4 });
    const run = [
      'node',
      '-e',
      'require("net").createServer((s) => s.end("hello")).listen(Number(process.env.PORT), "127.0.0.1")',
    ];
    const job = await client.jobs.submit({ job: { name: 'serves', run }, profile: { port: true, grace: '1s' } });
    let endpoint: string | null = null;
    for await (const view of job.watch()) {
      endpoint = view.tasks[0]?.endpoint ?? null;
      if (endpoint !== null) break;
    }
    expect(endpoint).toMatch(/^127\.0\.0\.1:\d+$/);
    const { connect } = await import('node:net');
    const answer = await new Promise<string>((done, fail) => {
      const socket = connect(Number(endpoint?.split(':')[1]), '127.0.0.1');
      socket.once('data', (data) => done(String(data)));
      socket.once('error', fail);
    });
    expect(answer).toBe('hello');
    await job.stop();
    await job.wait();
    // Free again, as the next to bind it finds.
    await new Promise<void>((done, fail) => {
      const server = createServer().once('error', fail);
      server.listen(Number(endpoint?.split(':')[1]), '127.0.0.1', () => server.close(() => done()));
    });
    await node?.close();
  });
});

describe('setupReuse', () => {
  it('runs setup once for the same command and bytes, and keeps its folder from job to job [S6]', async () => {
    const node = await client.nodes.start({ name: 'n', cpus: 4 });
    const folder = join(lab.home, 'project');
    mkdirSync(folder);
    const document = (name: string) => ({
      job: {
        name,
        setup: 'echo built >> "$RUNYARD_ENV/built"',
        run: 'cat "$RUNYARD_ENV/built"',
        workspace: { workdir: folder },
      },
      profile: { setupReuse: ['deps.txt'] },
    });
    const once = async (name: string, deps: string): Promise<string> => {
      writeFileSync(join(folder, 'deps.txt'), deps);
      const job = await client.jobs.submit(document(name), { baseDirectory: folder });
      expect(await job.wait()).toMatchObject({ state: 'COMPLETED' });
      let text = '';
      for await (const piece of job.logs({ step: 'run' })) text += piece;
      return text;
    };
    expect(await once('first', 'a==1')).toBe('built\n');
    expect(await once('second', 'a==1')).toBe('built\n');
    expect(await once('other', 'a==2')).toBe('built\n');
    expect(await once('third', 'a==1')).toBe('built\n');
    await node?.close();
  });
});

describe('arrays', () => {
  it('run each index once, at most maxRunning at a time, and only failed ones are retried [B4]', async () => {
    const node = await client.nodes.start({ name: 'n', cpus: 8 });
    const job = await client.jobs.submit({
      job: {
        name: 'sweep',
        run: 'echo "$RUNYARD_INDEX of $RUNYARD_COUNT, $RUNYARD_ARRAY_INDEX" > r; test "$RUNYARD_INDEX" != 3 -a "$RUNYARD_INDEX" != 5',
        outputs: ['r'],
      },
      profile: { array: { size: 7, maxRunning: 2 } },
    });
    let most = 0;
    for await (const view of job.watch()) most = Math.max(most, view.array?.running ?? 0);
    expect(most).toBe(2);
    const ended = await job.wait();
    expect(ended).toMatchObject({
      state: 'FAILED',
      array: { size: 7, completed: 5, failed: 2 },
      outcome: { exitCode: 1, message: expect.stringContaining('2 of 7 failed') },
    });
    const landed = await job.land({ to: join(lab.home, 'out') });
    expect(landed.length).toBe(7);
    const { readFileSync } = await import('node:fs');
    expect(readFileSync(join(lab.home, 'out/4/r'), 'utf8')).toBe('4 of 7, 4\n');
    const again = await job.retry({ failed: true });
    const retried = await again.wait();
    expect(retried).toMatchObject({ retryOf: job.id, array: { size: 2, failed: 2 } });
    expect(retried.tasks.map(({ index }) => index)).toEqual([3, 5]);
    await node?.close();
  });
});

describe('a job with an exit code that its profile retries', () => {
  it('goes back to pending with the reason, and ends with the last attempt [U2]', async () => {
    const node = await client.nodes.start({ name: 'n', cpus: 4 });
    const run = 'echo attempt $RUNYARD_ATTEMPT; test "$RUNYARD_ATTEMPT" = 2 || exit 75';
    const job = await client.jobs.submit({
      job: { name: 'again', run },
      profile: { retry: { maxAttempts: 3, onExit: [75] } },
    });
    const states: string[] = [];
    for await (const { state, waiting } of job.watch())
      states.push(waiting === null ? state : `${state} ${waiting.reason}`);
    expect(states.filter((state, position) => state !== states[position - 1])).toEqual([
      'RUNNING',
      'PENDING backoff',
      'RUNNING',
      'COMPLETED',
    ]);
    await node?.close();
  });
});
