import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceView } from '../src/core/service/view.ts';
import { type Lab, markedPids, openLab, until } from './lab.ts';

/** Each service of examples/ as a reader would start it: applied, talked to by its own protocol, removed. */

const examples = resolve(import.meta.dirname, '../examples');

let lab: Lab;
beforeAll(async () => {
  lab = openLab();
  await succeed('up', '--cpus', '4');
});
afterAll(async () => {
  await lab.yard(['down', '--stop']);
  await lab.close();
});

describe('the model server', () => {
  it('reads digits that it has never seen, on both of its endpoints [G1] [G2] [X3] [X32]', async () => {
    const endpoints = await apply('model-server');
    expect(endpoints).toHaveLength(2);
    expect(new Set(endpoints).size).toBe(2);
    const processes = new Set<number>();
    for (const endpoint of endpoints) {
      expect(await (await fetch(`http://${endpoint}/readyz`)).json()).toEqual({ ready: true });
      const answers = await Promise.all(Array.from({ length: 50 }, (_, position) => readSample(endpoint, position)));
      expect(answers.filter(({ label, digit }) => label === digit).length).toBeGreaterThanOrEqual(45);
      for (const answer of answers) processes.add(answer.process);
    }
    expect(processes.size).toBe(2);
    expect((await fetch(`http://${endpoints[0]}/predict`, { method: 'POST', body: '{"pixels":[2]}' })).status).toBe(
      400,
    );
    await remove('model-server', endpoints);
  });

  async function readSample(endpoint: string, position: number): Promise<Answer> {
    const sample = (await (await fetch(`http://${endpoint}/samples/${position}`)).json()) as { label: number };
    const predicted = await fetch(`http://${endpoint}/predict`, { method: 'POST', body: JSON.stringify(sample) });
    return { label: sample.label, ...((await predicted.json()) as { digit: number; process: number }) };
  }

  interface Answer {
    readonly label: number;
    readonly digit: number;
    readonly process: number;
  }
});

describe(`Redis${whyNot('redis-server', 'redis-cli')}`, () => {
  it.skipIf(isMissing('redis-server', 'redis-cli'))(
    'keeps what it is told at its endpoint, over a kill as well [G2] [G3] [X2]',
    async () => {
      const [endpoint = ''] = await apply('redis');
      expect(await askRedis(endpoint, ['SET', 'greeting', 'hello'])).toBe('+OK\r\n');
      expect(await askRedis(endpoint, ['GET', 'greeting'])).toBe('$5\r\nhello\r\n');
      const before = /process_id:(\d+)/.exec(await askRedis(endpoint, ['INFO', 'server']))?.[1];
      process.kill(Number(before), 'SIGKILL');
      await until(async () => (await view('redis')).replicas[0]?.tasks[0]?.restarts === 1, 'the restart');
      await until(async () => (await view('redis')).endpoints.length === 1, 'the endpoint');
      const [again = ''] = (await view('redis')).endpoints.map((one) => one.endpoint);
      expect(await askRedis(again, ['GET', 'greeting'])).toBe('$5\r\nhello\r\n');
      await remove('redis', [endpoint, again]);
    },
    60_000,
  );

  /** One command in Redis' own protocol; gives the answer as it came. */
  function askRedis(endpoint: string, words: readonly string[]): Promise<string> {
    const [host = '', port = ''] = endpoint.split(':');
    const command = `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
    return new Promise((done, fail) => {
      const socket = connect(Number(port), host, () => socket.write(command));
      socket.setTimeout(5000, () => socket.destroy(new Error(`no answer to ${words.join(' ')} within 5 s`)));
      socket.once('error', fail);
      socket.once('data', (bytes) => {
        socket.destroy();
        done(bytes.toString());
      });
    });
  }
});

describe(`the notebook server${whyNot('jupyter-notebook')}`, () => {
  it.skipIf(isMissing('jupyter-notebook'))(
    'says its token in its log, and keeps a notebook that it is given [G2] [X2]',
    async () => {
      const [endpoint = ''] = await apply('notebook');
      expect(await (await fetch(`http://${endpoint}/api`)).json()).toEqual({ version: expect.stringMatching(/^\d/) });
      const { stdout } = await succeed('logs', 'notebook');
      const token = /token=([0-9a-f]+)/.exec(stdout)?.[1] ?? '';
      const url = `http://${endpoint}/api/contents/first.ipynb`;
      expect((await fetch(url)).status).toBe(403);
      const headers = { Authorization: `token ${token}` };
      const cell = { cell_type: 'code', metadata: {}, source: '1 + 1', outputs: [], execution_count: null };
      const content = { cells: [cell], metadata: {}, nbformat: 4, nbformat_minor: 2 };
      const body = JSON.stringify({ type: 'notebook', content });
      expect((await fetch(url, { method: 'PUT', headers, body })).status).toBe(201);
      expect(await (await fetch(url, { headers })).json()).toMatchObject({ content: { cells: [{ source: '1 + 1' }] } });
      await remove('notebook', [endpoint]);
    },
    60_000,
  );
});

async function succeed(...words: string[]): Promise<{ stdout: string; stderr: string }> {
  const done = await lab.yard(words);
  expect(done, `yard ${words.join(' ')}\n${done.stdout}${done.stderr}`).toMatchObject({ code: 0 });
  return done;
}

/** Applies an example; gives its endpoints once it is as it should be. */
async function apply(name: string): Promise<readonly string[]> {
  await succeed('apply', join(examples, name, 'service.toml'));
  const { state, endpoints } = await view(name);
  expect(state).toBe('RUNNING');
  return endpoints.map(({ endpoint }) => endpoint);
}

async function view(name: string): Promise<ServiceView> {
  return JSON.parse((await succeed('services', name, '--json')).stdout);
}

/** Removes a service: no process of it is left, and nobody listens where it did [G5] [X26]. */
async function remove(name: string, endpoints: readonly string[]): Promise<void> {
  await succeed('services', 'rm', name);
  await until(() => markedPids(lab.home).length === 0, 'the end of its processes');
  for (const endpoint of endpoints) await expect(fetch(`http://${endpoint}/`)).rejects.toThrow('fetch failed');
}

function isMissing(...programs: string[]): boolean {
  return programs.some((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
}

/** Said in the title, so that whoever reads of a skipped test knows what it wants. */
function whyNot(...programs: string[]): string {
  return isMissing(...programs)
    ? ` (skipped: ${programs.join(' and ')} not installed, scripts/test-packages.mjs does)`
    : '';
}
