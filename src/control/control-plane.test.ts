import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type Fact, factKinds } from '../core/fact.ts';
import { isRefusal } from '../core/refusal.ts';
import { joining, submission } from '../core/scenario.testsuite.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import type { FactLog } from '../log/fact-log.ts';
import { type Formats, plainFormats } from '../log/formats.ts';
import { openSqliteLog } from '../log/sqlite.ts';
import { ControlPlane } from './control-plane.ts';
import { stateHash } from './snapshots.ts';

const directory = mkdtempSync(join(tmpdir(), 'runyard-control-'));
const processes = createNodeProcesses({ directory: `${directory}/shim` });
const host = createNodeHost(processes);
afterAll(() => {
  processes.close();
  rmSync(directory, { recursive: true, force: true });
});

/** What the agent of yesterday reads, and what the command of today writes besides: facts under one more roof. */
const older = plainFormats<Fact>(factKinds);
const newer: Formats<Fact> = {
  current: [1, 2],
  encode: (fact, format) => (format === 1 ? older.encode(fact, 1) : { raised: fact }),
  decode: (json, format) => older.decode(format === 1 ? json : (json as { raised: unknown }).raised, 1),
};

function openLog(name: string, formats: Formats<Fact>): Promise<FactLog<Fact>> {
  return openSqliteLog<Fact>({ path: `${directory}/${name}.db`, host, pid: process.pid, formats });
}

function open(log: FactLog<Fact>, faults: unknown[] = []): Promise<ControlPlane> {
  return ControlPlane.open(log, host, (error) => faults.push(error));
}

describe('a newer command beside an older agent', () => {
  it('blinds neither: both decide and see the same, until the older one has gone and the format rises', async () => {
    const agent = await open(await openLog('beside', older));
    const command = await open(await openLog('beside', newer));
    await agent.execute(joining('n1', 'i1'));
    expect(await command.execute(submission('a-222222'))).toEqual({ kind: 'submitted', job: 'a-222222' });
    await agent.catchUp();
    expect([...agent.state.jobs.keys()]).toEqual(['a-222222']);
    expect(isRefusal(await agent.execute({ kind: 'Tick' }))).toBe(false);
    await command.catchUp();
    expect(stateHash(host, command.state)).toBe(stateHash(host, agent.state));

    await agent.close();
    await command.execute(submission('b-222222'));
    const formats = new Set((await command.log.readAfter(0)).map((batch) => batch.format));
    expect([...formats]).toEqual([1, 2]);
    await expect(openLog('beside', older)).rejects.toThrow('the log is in format 2, and this version reads format 1');
    const again = await open(await openLog('beside', newer));
    expect([...again.state.jobs.keys()]).toEqual(['a-222222', 'b-222222']);
    await again.close();
    await command.close();
  });
});

describe('a commit that fails', () => {
  it('answers whoever asked, even when the log cannot be read any more either', async () => {
    const log = await openLog('broken', older);
    const faults: unknown[] = [];
    const gone = (): Promise<never> => Promise.reject(new Error('the device has gone'));
    let isBroken = false;
    const breaking: FactLog<Fact> = {
      ...log,
      readAfter: (seq, limit) => (isBroken ? gone() : log.readAfter(seq, limit)),
    };
    const plane = await open(breaking, faults);
    isBroken = true;
    const asked = [plane.execute(joining('n1', 'i1')), plane.execute({ kind: 'Tick' })];
    for (const one of asked) await expect(one).rejects.toThrow('the device has gone');
    expect(faults).not.toEqual([]);
    isBroken = false;
    expect(await plane.execute({ kind: 'Tick' })).toEqual({ kind: 'done' });
    await plane.close();
  });
});
