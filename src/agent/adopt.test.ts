import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeProcesses } from '../host/node/processes.ts';
import type { ProcessIdentity } from '../host/processes.ts';
import { adoptProcess, decideAdoption, type Evidence, type Owner } from './adopt.ts';
import { argv, createTestNode, pause, script, type TestNode } from './attempt.testsuite.ts';
import { readRecords, takeClaim, writeStartRecord } from './records.ts';
import { stopTree } from './stop-ladder.ts';

describe('the decision of adoption', () => {
  const process: ProcessIdentity = { pid: 7, startTicks: 1, bootId: 'now' };
  const start = { nonce: 'n', mark: 'm', bootId: 'now' };
  const run = { process, startedAtMs: 1 };
  const exit = { kind: 'exited', exitCode: 5, atMs: 1, alone: true } as const;
  const owner = (isAlive: boolean): Owner => ({ kind: 'shim', shim: process, isAlive });
  const evidence: Evidence = { start, owner: owner(true), run, exit: null, bootId: 'now' };
  const table: [string, Partial<Evidence>, string][] = [
    ['starts for the first time when nothing was journaled', { start: null, owner: null, run: null }, 'never-decided'],
    ['reports an exit that is recorded [C9]', { exit, owner: owner(false) }, 'ended'],
    ['reports a recorded exit even after a reboot', { exit, bootId: 'later' }, 'ended'],
    ['gives up what the host forgot in a reboot', { bootId: 'later' }, 'rebooted'],
    ['adopts what runs [B3]', {}, 'running'],
    ['adopts a shim that has not started its command yet', { run: null }, 'running'],
    ['starts again when the claim is an agent’s', { owner: { kind: 'agent' }, run: null }, 'start-again'],
    ['never starts again when a shim died after its claim', { owner: owner(false), run: null }, 'lost'],
    ['never starts again when a claim is torn', { owner: { kind: 'unknown' }, run: null }, 'lost'],
    ['does not guess the exit when the shim died first', { owner: owner(false) }, 'lost'],
  ];
  it.each(table)('%s', (_, change, kind) => {
    expect(decideAdoption({ ...evidence, ...change }).kind).toBe(kind);
  });
});

describe.each(['auto', 'sh'] as const)('adopting what the %s launcher started', (launcher) => {
  let node: TestNode;
  beforeAll(async () => {
    node = await createTestNode({ launcher });
  });
  afterAll(() => node.close());

  it('finds the exit and the whole log of a command that ended without its agent [C10]', async () => {
    const attempt = node.newAttempt();
    const start = await attempt.start(script('sleep 0.1; echo LAST; exit 7'));
    // The launcher dies as it would with its agent; the shim does not notice.
    node.processes.close();
    expect(await attempt.waitForEnd(start)).toMatchObject({ kind: 'ended', exit: { kind: 'exited', exitCode: 7 } });
    expect(attempt.text('run.out')).toBe('LAST\n');
    const adoption = await adoptProcess({ host: node.host, directory: attempt.directory, label: 'run' });
    expect(adoption).toMatchObject({ kind: 'ended', exit: { exitCode: 7 } });
  });

  it('starts a command once when two shims race for one claim [I11]', async () => {
    const attempt = node.newAttempt();
    const other = createNodeProcesses({ directory: node.root, launcher: 'sh' });
    const order = {
      directory: attempt.directory,
      workdir: attempt.workdir,
      label: 'run',
      nonce: 'same',
      argv: ['sh', '-c', 'echo x >> count; sleep 0.1'],
      env: { PATH: '/usr/bin:/bin', RUNYARD_MARK: attempt.mark },
      mark: attempt.mark,
      maxProcesses: null,
      memoryMiB: null,
      bell: node.bell,
    } as const;
    const place = { files: node.host.files, directory: attempt.directory, label: 'run' } as const;
    const start = { nonce: 'same', mark: attempt.mark, bootId: node.host.clock.bootId() };
    await writeStartRecord(place, start);
    await Promise.all([node.processes.launch(order), other.launch(order), node.processes.launch(order)]);
    expect(await attempt.waitForEnd(start)).toMatchObject({ kind: 'ended' });
    while ((await node.host.processes.findMarked({ ...attempt, leader: null })).length > 0) await pause();
    expect(attempt.text('work/count')).toBe('x\n');
  });

  it('runs nothing once an agent has taken the claim, and says that it may start again [C9]', async () => {
    const attempt = node.newAttempt();
    const place = { files: node.host.files, directory: attempt.directory, label: 'run' } as const;
    const start = await attempt.start(argv('sh', '-c', 'echo x >> count'));
    const taken = await takeClaim(place, start.nonce);
    const end = await attempt.waitForEnd(start);
    expect(end.kind).toBe(taken ? 'start-again' : 'ended');
    expect(readdirSync(attempt.workdir)).toEqual(taken ? [] : ['count']);
  });

  it('kills the tree of a shim that was killed, and calls the exit unknown', async () => {
    const attempt = node.newAttempt();
    const start = await attempt.start(script('sleep 99'));
    const { shim, command } = await attempt.waitForRun();
    await node.host.processes.signal(shim, 'SIGKILL');
    const end = await attempt.waitForEnd(start);
    expect(end).toEqual({ kind: 'lost', message: expect.stringContaining('exit of the command is unknown') });
    expect(await stopTree({ host: node.host, ...attempt, shim, graceMs: 0 })).toBe('gone');
    expect(await node.host.processes.isAlive(command)).toBe(false);
  });

  it('takes a torn record for an absent one', async () => {
    const attempt = node.newAttempt();
    await attempt.run(script('true'));
    const place = { files: node.host.files, directory: attempt.directory, label: 'run' } as const;
    writeFileSync(join(attempt.directory, 'run.exit.json'), '{"code":0,"sig');
    writeFileSync(join(attempt.directory, 'run.run.json'), '');
    expect(await readRecords(place)).toMatchObject({ run: null, exit: null });
  });

  it('signals nothing that only has the number of a process of before [I17]', async () => {
    const attempt = node.newAttempt();
    await attempt.start(script('sleep 99'));
    const { shim, command } = await attempt.waitForRun();
    const { processes } = node.host;
    for (const stranger of [
      { ...command, startTicks: command.startTicks - 1 },
      { ...command, bootId: 'before' },
    ]) {
      expect(await processes.isAlive(stranger)).toBe(false);
      expect(await processes.signal(stranger, 'SIGKILL')).toBe(false);
    }
    expect(await processes.signalGroup({ ...shim, startTicks: shim.startTicks - 1 }, 'SIGKILL')).toBe(false);
    expect(await processes.isAlive(command)).toBe(true);
    expect(await stopTree({ host: node.host, ...attempt, shim, graceMs: 0 })).toBe('gone');
  });
});

it('hands a start to the shim when the launcher dies before it answered', async () => {
  const node = await createTestNode();
  await node.newAttempt().run(script('true'));
  const [launcher] = (await node.host.files.list(node.root))?.filter((one) => one.name.startsWith('launcher-')) ?? [];
  // The next launcher reads this text and ends at once.
  writeFileSync(join(node.root, launcher?.name ?? ''), 'exit 3;\n');
  node.processes.close();
  const attempt = node.newAttempt();
  expect(await attempt.run(script('exit 5'))).toMatchObject({ kind: 'ended', exit: { exitCode: 5 } });
  expect(readdirSync(attempt.directory).some((name) => name.startsWith('run.launch.'))).toBe(launcher !== undefined);
  await node.close();
});
