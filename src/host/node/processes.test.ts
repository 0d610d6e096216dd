import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseProcStat, parsePsLine, readProcess } from './proc-stat.ts';
import { createNodeProcesses, type NodeProcesses } from './processes.ts';

let directory: string;
let processes: NodeProcesses;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'runyard-processes-'));
  processes = createNodeProcesses({ directory });
});
afterAll(() => {
  processes.close();
  rmSync(directory, { recursive: true });
});

describe('a helper', () => {
  it('gives its output and its exit code', async () => {
    const result = await processes.runHelper(['sh', '-c', 'echo out; echo err >&2; exit 3'], { timeoutMs: 10_000 });
    expect(result).toEqual({ exitCode: 3, signal: null, timedOut: false, stdout: 'out\n', stderr: 'err\n' });
  });

  it('is killed with its whole tree when its time is up, the part in a session of its own too', async () => {
    const text = 'setsid sleep 99 & echo $!; sleep 99';
    const result = await processes.runHelper(['sh', '-c', text], { timeoutMs: 300 });
    expect(result).toMatchObject({ signal: 'SIGKILL', timedOut: true });
    expect(await processes.identify(Number(result.stdout))).toBeNull();
  });

  it('does not wait for what it left running in the background', async () => {
    const result = await processes.runHelper(['sh', '-c', 'sleep 1 & echo up'], { timeoutMs: 10_000 });
    expect(result).toMatchObject({ exitCode: 0, stdout: 'up\n' });
  });

  it('throws ENOENT when there is no such program, and keeps no more output than asked for', async () => {
    await expect(processes.runHelper(['no-such-program'], { timeoutMs: 1000 })).rejects.toMatchObject({
      code: 'ENOENT',
    });
    const result = await processes.runHelper(['seq', '1', '99999'], { timeoutMs: 10_000, maxBytes: 4 });
    expect(result.stdout).toBe('1\n2\n');
  });

  it('sees nothing of this program’s environment but PATH', async () => {
    const { stdout } = await processes.runHelper(['env'], { timeoutMs: 10_000, env: { GIVEN: 'x' } });
    const names = stdout
      .trim()
      .split('\n')
      .map((line) => line.split('=', 1)[0]);
    expect(names.sort()).toEqual(['GIVEN', 'PATH', 'RUNYARD_MARK']);
  });
});

describe('an identity', () => {
  it('is that of a live process only', async () => {
    const own = await processes.identify(process.pid);
    expect(own).toMatchObject({ pid: process.pid });
    expect(own !== null && (await processes.isAlive(own))).toBe(true);
    expect(await processes.identify(4_194_304)).toBeNull();
  });

  it('is told from its successor under the same number by a look, not by a glance', async () => {
    const own = await processes.identify(process.pid);
    if (own === null) throw new Error('this process has no identity');
    const successor = { ...own, startTicks: own.startTicks + 1 };
    expect(await processes.isAlive(successor)).toBe(false);
    expect(await processes.isAlive(successor, { glance: true })).toBe(true);
    const { pid } = spawnSync('true');
    expect(await processes.isAlive({ ...own, pid }, { glance: true })).toBe(false);
    expect(await processes.isAlive({ ...own, bootId: 'another' }, { glance: true })).toBe(false);
  });

  it('survives a process name with spaces and parentheses, and is none for a zombie', () => {
    const rest = '1 42 41 0 -1 4194304 86 0 0 0 0 0 0 0 20 0 1 0 165016 2654208';
    const stat = { pid: 42, parentPid: 1, groupId: 42, sessionId: 41, startTicks: 165_016 };
    expect(parseProcStat(`42 (a) R (b) S ${rest}`)).toEqual(stat);
    expect(parseProcStat(`42 (sh) Z ${rest}`)).toBeNull();
  });

  it('can be read from ps, as on macOS', async () => {
    const options = { timeoutMs: 10_000, env: { LC_ALL: 'C', TZ: 'UTC0' } };
    const argv = ['ps', '-o', 'pid=,ppid=,pgid=,stat=,lstart=', '-p', String(process.pid)];
    const found = parsePsLine((await processes.runHelper(argv, options)).stdout.trimEnd());
    expect(found).toMatchObject({ pid: process.pid, groupId: readProcess(process.pid)?.groupId });
    const startedMs = Date.now() - process.uptime() * 1000;
    expect(Math.abs((found?.startTicks ?? 0) * 1000 - startedMs)).toBeLessThan(5000);
  });
});
