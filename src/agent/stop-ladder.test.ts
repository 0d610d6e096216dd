import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ProcessIdentity } from '../host/processes.ts';
import { settleOwner } from './adopt.ts';
import { argv, createTestNode, script, type TestAttempt, type TestNode } from './attempt.testsuite.ts';
import { type StopResult, stopTree } from './stop-ladder.ts';

describe.each(['auto', 'sh'] as const)('stopping a tree that the %s launcher started', (launcher) => {
  let node: TestNode;
  beforeAll(async () => {
    node = await createTestNode({ launcher });
  });
  afterAll(() => node.close());

  const stop = (attempt: TestAttempt, shim: ProcessIdentity | null, graceMs: number): Promise<StopResult> =>
    stopTree({ host: node.host, mark: attempt.mark, directory: attempt.directory, shim, graceMs });
  const find = (attempt: TestAttempt, leader: ProcessIdentity | null) =>
    node.host.processes.findMarked({ mark: attempt.mark, directory: attempt.directory, leader });

  it('reaches every descendant with TERM, the one in its own session too, and keeps last words [C12]', async () => {
    const attempt = node.newAttempt();
    await attempt.start(
      argv('sh', '-c', '(trap "echo bye; exit" TERM; echo up; while :; do sleep 0.02; done)& setsid sleep 99& wait'),
    );
    const { shim } = await attempt.waitForRun();
    await attempt.waitForText('run.out', 'up');
    expect(await stop(attempt, shim, 10_000)).toBe('gone');
    expect(attempt.text('run.out')).toBe('up\nbye\n');
    expect(await find(attempt, null)).toEqual([]);
  });

  it('kills after the grace what ignores TERM, and still learns how the command ended', async () => {
    const attempt = node.newAttempt();
    const start = await attempt.start(script('trap "" TERM; echo up; while :; do sleep 0.02; done'));
    const { shim } = await attempt.waitForRun();
    await attempt.waitForText('run.out', 'up');
    expect(await stop(attempt, shim, 50)).toBe('gone');
    expect(await attempt.waitForEnd(start)).toMatchObject({ kind: 'ended', exit: { kind: 'killed', signal: 9 } });
  });

  it('signals a process once only, as a second TERM often means "at once"', async () => {
    const attempt = node.newAttempt();
    await attempt.start(
      argv('bash', '-c', 'trap "echo term" TERM; echo up; for i in 1 2 3 4 5 6; do sleep 0.05; done'),
    );
    const { shim } = await attempt.waitForRun();
    await attempt.waitForText('run.out', 'up');
    expect(await stop(attempt, shim, 10_000)).toBe('gone');
    expect(attempt.text('run.out')).toBe('up\nterm\n');
  });

  it('wakes a stopped tree so that it can end by itself', async () => {
    const attempt = node.newAttempt();
    await attempt.start(argv('sh', '-c', 'trap "echo bye; exit" TERM; echo up; kill -STOP $$; sleep 99'));
    const { shim, command } = await attempt.waitForRun();
    await attempt.waitForText('run.out', 'up');
    expect(await stop(attempt, shim, 10_000)).toBe('gone');
    expect(attempt.text('run.out')).toBe('up\nbye\n');
    expect(await node.host.processes.isAlive(command)).toBe(false);
  });

  it('finds a daemon that forked twice, cleaned its environment and only holds the log open [C14]', async () => {
    const attempt = node.newAttempt();
    const daemon = `setsid env -i /bin/sh -c '(/bin/sleep 99 & echo "pid $!")' &`;
    const start = await attempt.start(script(`${daemon}\nwait`));
    expect(await attempt.waitForEnd(start)).toMatchObject({ exit: { exitCode: 0 } });
    await attempt.waitForText('run.out', 'pid ');
    const pid = Number(attempt.text('run.out').replace('pid ', ''));
    expect((await find(attempt, null)).map((one) => one.pid)).toEqual([pid]);
    expect(await stop(attempt, null, 20)).toBe('gone');
    expect(await node.host.processes.identify(pid)).toBeNull();
  });

  it('does not take a reader of the log for a process of the attempt [I17]', async () => {
    const attempt = node.newAttempt();
    await attempt.run(script('echo line'));
    const reader = node.newAttempt();
    await reader.start(argv('sh', '-c', `exec 3<${attempt.directory}/run.out; echo up; sleep 99`));
    await reader.waitForText('run.out', 'up');
    expect(await find(attempt, null)).toEqual([]);
    expect(await stop(reader, (await reader.waitForRun()).shim, 0)).toBe('gone');
  });

  it('ends a start right after its launch, whether its shim has come up or not', async () => {
    for (let tries = 0; tries < 8; tries += 1) {
      const attempt = node.newAttempt();
      const start = await attempt.start(script('sleep 99'));
      const place = { files: node.host.files, directory: attempt.directory, label: 'run' } as const;
      const owner = await settleOwner(node.host, place, start.nonce);
      if (owner.kind === 'shim') expect(await stop(attempt, owner.shim, 5000)).toBe('gone');
      const end = await attempt.waitForEnd(start);
      expect(end.kind).toBe(owner.kind === 'shim' ? 'ended' : 'start-again');
      expect(await find(attempt, null)).toEqual([]);
    }
  });
});

describe('limits', () => {
  it('holds a fork bomb where a cgroup is writable [R4.42]', async (context) => {
    if (!existsSync('/sys/fs/cgroup/pids') || process.getuid?.() !== 0) return context.skip();
    const node = await createTestNode();
    const attempt = node.newAttempt();
    const bomb = 'i=0; while [ $i -lt 200 ]; do sleep 99 & i=$((i+1)); done; wait';
    await attempt.start(argv('bash', '-c', bomb), { maxProcesses: 32 });
    const { shim } = await attempt.waitForRun();
    await attempt.waitForText('run.err', 'fork');
    const search = { mark: attempt.mark, directory: attempt.directory, leader: shim };
    expect((await node.host.processes.findMarked(search)).length).toBeLessThanOrEqual(33);
    expect(await stopTree({ ...search, host: node.host, shim, graceMs: 0 })).toBe('gone');
    expect(await node.host.processes.release(search)).toEqual({ outOfMemory: false });
    await node.close();
  });

  it('tells a death by the memory limit apart', async (context) => {
    if (!existsSync('/sys/fs/cgroup/memory') || process.getuid?.() !== 0) return context.skip();
    const node = await createTestNode();
    const attempt = node.newAttempt();
    const eater = 'const kept = []; for (;;) kept.push(Buffer.alloc(8 << 20, 1));';
    writeFileSync(join(attempt.workdir, 'eat.js'), eater);
    const end = await attempt.run(argv(process.execPath, 'eat.js'), { memoryMiB: 96 });
    expect(end).toMatchObject({ kind: 'ended', exit: { kind: 'killed', signal: 9 } });
    const search = { mark: attempt.mark, directory: attempt.directory, leader: null };
    expect(await node.host.processes.release(search)).toEqual({ outOfMemory: true });
    await node.close();
  });
});
