import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { creating, someHash } from '../core/access/access-scenario.testsuite.ts';
import { type Fact, factKinds } from '../core/fact.ts';
import { isRefusal } from '../core/refusal.ts';
import { joining, submission } from '../core/scenario.testsuite.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import { plainFormats } from '../log/formats.ts';
import { openSqliteLog } from '../log/sqlite.ts';
import { ControlPlane } from './control-plane.ts';
import { RefusalAudit, type RefusedAttempt } from './refusal-audit.ts';

const attempt: RefusedAttempt = { who: 'user eve', action: 'StopJob', subject: 'j-1', code: 'FORBIDDEN' };

describe('refused attempts', () => {
  it('are noted one a minute of each sort, with how many there were [R4.31]', () => {
    const audit = new RefusalAudit();
    expect(audit.note(attempt, 0)).toEqual([{ kind: 'RecordRefusal', ...attempt, times: 1 }]);
    for (let time = 1; time <= 1000; time += 1)
      expect(audit.note({ ...attempt, subject: `j-${time}` }, time)).toEqual([]);
    expect(audit.note({ ...attempt, action: 'StopService' }, 1001)).toMatchObject([
      { action: 'StopService', times: 1 },
    ]);
    expect(audit.note({ ...attempt, subject: 'j-9' }, 60_000)).toMatchObject([{ subject: 'j-9', times: 1001 }]);
    expect(audit.note(attempt, 60_001)).toEqual([]);
    expect(audit.rest()).toMatchObject([{ action: 'StopJob', times: 1 }]);
    expect(audit.rest()).toEqual([]);
  });

  it('of more people than can be told apart are counted together [R4.31]', () => {
    const audit = new RefusalAudit();
    const noted = Array.from({ length: 10_000 }, (_, time) =>
      audit.note({ ...attempt, who: `node n${time}` }, 0),
    ).flat();
    expect(noted.length).toBe(501);
    expect(audit.rest()).toMatchObject([{ who: 'others', times: 9499 }]);
  });

  it('that waited for their minute are noted with those of others', () => {
    const audit = new RefusalAudit();
    audit.note(attempt, 0);
    audit.note(attempt, 1);
    const other = { ...attempt, who: 'node n1' };
    expect(audit.note(other, 60_000)).toMatchObject([
      { who: 'node n1', times: 1 },
      { who: 'user eve', times: 1 },
    ]);
  });
});

describe('a control plane', () => {
  const directory = mkdtempSync(join(tmpdir(), 'runyard-audit-'));
  const processes = createNodeProcesses({ directory: `${directory}/shim` });
  const host = createNodeHost(processes);
  afterAll(() => {
    processes.close();
    rmSync(directory, { recursive: true, force: true });
  });

  it("refuses a node that claims another's task and a user who may not, and notes both, however often they try [R4.27] [R4.31]", async () => {
    const formats = plainFormats<Fact>(factKinds);
    const log = await openSqliteLog<Fact>({ path: `${directory}/log.db`, host, pid: process.pid, formats });
    const plane = await ControlPlane.open(log, host, (error) => {
      throw error;
    });
    const join = { token: 'join02', node: 'n2' };
    await plane.execute({ kind: 'CreateJoinToken', ...join, hash: someHash, lifetimeMs: 60_000, by: 'root' });
    await plane.execute({ kind: 'UseJoinToken', ...join, keyHash: someHash });
    await plane.execute(joining('n1', 'i1'));
    await plane.execute(submission('job-222222'));
    await plane.execute(joining('n2', 'i2'));
    await plane.execute(creating('token1', 'eve'));
    const event = { job: 'job-222222', index: 0, rank: 0, attempt: 1, kind: 'JobStarted', port: null } as const;
    const report = { kind: 'NodeReport', node: 'n2', instance: 'i2', events: [event], released: [] } as const;
    const eve = { kind: 'user', name: 'eve', token: 'token1' } as const;
    const stop = { kind: 'StopJob', job: 'job-222222', indices: null, by: 'eve', graceMs: null } as const;
    for (let time = 0; time < 50; time += 1) {
      const claimed = await plane.execute(report, { actor: { kind: 'node', name: 'n2' } });
      const stopped = await plane.execute(stop, { actor: eve });
      expect(isRefusal(claimed) && claimed.code).toBe('NOT_ASSIGNED');
      expect(isRefusal(stopped) && stopped.code).toBe('FORBIDDEN');
    }
    const twice = { actor: eve, idempotencyKey: 'one' };
    const own = { ...submission('own-222222'), owner: 'eve' };
    expect(await plane.execute(own, twice)).toEqual(await plane.execute(own, twice));
    const asOther = await plane.execute(own, { ...twice, actor: { kind: 'local', name: 'eve' } });
    expect(isRefusal(asOther) && asOther.code).toBe('IDEMPOTENCY_MISMATCH');
    await plane.close();
    const again = await openSqliteLog<Fact>({ path: `${directory}/log.db`, host, pid: process.pid, formats });
    const facts = (await again.readAfter(0)).flatMap((batch) => batch.facts);
    const refused = facts.filter((fact) => fact.kind === 'AccessRefused');
    expect(refused.sort((a, b) => a.times - b.times || (a.who < b.who ? -1 : 1))).toMatchObject([
      { who: 'node n2', action: 'NodeReport', subject: 'job-222222', code: 'NOT_ASSIGNED', times: 1 },
      { who: 'user eve', action: 'StopJob', subject: 'job-222222', code: 'FORBIDDEN', times: 1 },
      { who: 'node n2', times: 49 },
      { who: 'user eve', times: 49 },
    ]);
    await again.close();
  });
});
