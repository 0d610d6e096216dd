import { existsSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readLog } from '../../agent/log-reader.ts';
import { prune } from '../../client/prune.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import { submission } from '../../core/scenario.testsuite.ts';
import { type AgentLab, openAgentLab } from './agents.testsuite.ts';
import { LogStore, type PushedPiece } from './log-store.ts';

let lab: AgentLab;
let logs: LogStore;
beforeEach(async () => {
  lab = await openAgentLab();
  await lab.admit('n1');
  await lab.embedded.plane.execute(submission('a-222222'));
  const agent = lab.agent('n1');
  await agent.join();
  logs = new LogStore(lab.embedded);
});
afterEach(() => lab.close());

const task = 'a-222222.0.0.1';
const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const piece = (offset: number, words: string, more: Partial<PushedPiece> = {}): PushedPiece => {
  return { task, file: 'run.out', offset, droppedFrom: null, bytes: text(words), ...more };
};
const directory = (): string => `${lab.embedded.home}/nodes/n1/attempts/${task}`;
const place = () => ({ files: lab.embedded.host.files, directory: directory(), label: 'run', stream: 'out' }) as const;

describe('logs that are pushed', () => {
  it('are appended where they go on, and once when they come twice', async () => {
    expect(await logs.push('n1', piece(0, 'one\n'))).toEqual({ sizeBytes: 4, full: false });
    expect(await logs.push('n1', piece(0, 'one\n'))).toEqual({ sizeBytes: 4, full: false });
    expect(await logs.push('n1', piece(9, 'far\n'))).toEqual({ sizeBytes: 4, full: false });
    await Promise.all([logs.push('n1', piece(4, 'two\n')), logs.push('n1', piece(4, 'two\n'))]);
    expect(readFileSync(`${directory()}/run.out`, 'utf8')).toBe('one\ntwo\n');
    expect(statSync(`${directory()}/run.out`).mode & 0o777).toBe(0o600);
    expect(statSync(directory()).mode & 0o777).toBe(0o700);
  });

  it('say how much the node dropped before it could be pushed, more than once', async () => {
    await logs.push('n1', piece(0, 'one\n'));
    expect(await logs.push('n1', piece(100, 'two\n', { droppedFrom: 4 }))).toEqual({ sizeBytes: 104, full: false });
    expect(await logs.push('n1', piece(200, 'three\n', { droppedFrom: 104 }))).toEqual({ sizeBytes: 206, full: false });
    expect(await logs.push('n1', piece(206, 'four\n'))).toEqual({ sizeBytes: 211, full: false });
    const parts: string[] = [];
    for (let at = 0; ; ) {
      const { bytes, nextOffset, droppedBytes } = await readLog(place(), at, 1000);
      if (bytes.length === 0) break;
      parts.push(`${droppedBytes} ${new TextDecoder().decode(bytes)}`);
      at = nextOffset;
    }
    expect(parts).toEqual(['0 one\n', '96 two\n', '96 three\nfour\n']);
  });

  it('end with a marker when they fill what a node may fill', async () => {
    logs = new LogStore(lab.embedded, 10);
    await logs.push('n1', piece(0, '12345678'));
    expect(await logs.push('n1', piece(8, '9abcdef'))).toEqual({ sizeBytes: 8, full: true });
    expect((await logs.push('n1', piece(8, '9abcdef'))).full).toBe(true);
    expect(readFileSync(`${directory()}/run.out`, 'utf8')).toMatch(
      /^12345678\n\[runyard: the logs of node n1 fill .*not kept\]\n$/,
    );
  });

  it("of another node's task are refused, and that stands in the audit [R4.27]", async () => {
    await lab.admit('n2');
    await expect(logs.push('n2', piece(0, 'x'))).rejects.toThrow('was never placed on n2');
    expect((await lab.facts()).at(-1)).toMatchObject({ kind: 'AccessRefused', who: 'node n2', code: 'NOT_ASSIGNED' });
  });

  it.each(['../../x', 'a-222222.0.0.01', 'a-222222.0.0', `${'a'.repeat(300)}.0.0.1`, 'A.0.0.1', ''])(
    'have their paths made by the server: no task %j [R4.30]',
    async (wrong) => {
      await expect(logs.push('n1', piece(0, 'x', { task: wrong }))).rejects.toThrow(RefusalError);
    },
  );

  it.each(['run.exit.json', '../run.out', 'run.out/..', 'log'])(
    'have names of ours only: no file %j [R4.30]',
    async (wrong) => {
      await expect(logs.push('n1', piece(0, 'x', { file: wrong }))).rejects.toThrow('an attempt has no log');
    },
  );

  it('go with their job when it is pruned', async () => {
    await logs.push('n1', piece(0, 'one\n'));
    const report = { kind: 'NodeReport', node: 'n1', instance: 'i1', released: [] } as const;
    const key = { job: 'a-222222', index: 0, rank: 0, attempt: 1 };
    const exited = { ...key, kind: 'JobExited', exitCode: 0, signal: null, detail: null } as const;
    await lab.embedded.plane.execute({ ...report, events: [exited] });
    expect((await prune(lab.embedded, { olderThanMs: 60_000 })).attempts).toBe(0);
    expect(existsSync(directory())).toBe(true);
    await lab.time.pass(10);
    expect((await prune(lab.embedded, { olderThanMs: 1 })).attempts).toBe(1);
    expect(existsSync(directory())).toBe(false);
  });

  it('go on for an attempt that is over, as long as the server has its beginning', async () => {
    mkdirSync(directory(), { recursive: true });
    await lab.embedded.plane.execute({ kind: 'StopJob', job: 'a-222222', indices: null, by: 'ada', graceMs: null });
    expect(await logs.push('n1', piece(0, 'late\n'))).toEqual({ sizeBytes: 5, full: false });
  });
});
