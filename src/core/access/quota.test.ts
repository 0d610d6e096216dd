import { describe, expect, it } from 'vitest';
import { whyWaiting } from '../placement/waiting.ts';
import type { PartialSettings } from '../profile/settings.ts';
import { exited, gpus, submission } from '../scenario.testsuite.ts';
import { applying } from '../service/service-scenario.testsuite.ts';
import { walks } from '../walk.testsuite.ts';
import type { Quota } from './access.ts';
import { AccessScenario } from './access-scenario.testsuite.ts';
import { usageByProject } from './quota.ts';

/** Jobs that a walk saw held up by a quota. */
let held = 0;

/** Two large nodes, and project ml with a quota. */
function scene(quota: Partial<Quota>): AccessScenario {
  const at = new AccessScenario();
  at.join('n1', { cpus: 64, gpus: gpus('n1', 8) });
  at.join('n2', { cpus: 64, gpus: gpus('n2', 8) });
  at.do({ kind: 'CreateProject', project: 'ml', quota, by: 'root' });
  return at;
}

const inMl = (at: AccessScenario, profile: PartialSettings = {}): string => at.submit(profile, {}, { project: 'ml' });
const change = (quota: Partial<Quota>) => ({ kind: 'ChangeProject', project: 'ml', quota, by: 'root' }) as const;

function why(at: AccessScenario, id: string): string {
  const waiting = whyWaiting(at.state, at.job(id), at.nowMs);
  return waiting === null ? 'runs' : `${waiting.reason}: ${waiting.message}`;
}

describe('a quota of GPUs and cores', () => {
  it('lets a job wait with the figures, while others of its kind go on [X29] [U4]', () => {
    const at = scene({ gpus: 4 });
    const first = inMl(at, { resources: { gpus: 3 } });
    const second = inMl(at, { resources: { gpus: 3 } });
    const small = inMl(at, { resources: { gpus: 1 } });
    const other = at.submit({ resources: { gpus: 3 } });
    const none = inMl(at);
    expect(why(at, second)).toBe('quota: needs 3 GPUs, project ml uses 4 of 4 GPUs');
    expect([first, small, other, none].map((id) => why(at, id))).toEqual(['runs', 'runs', 'runs', 'runs']);
    expect(usageByProject(at.state).get('ml')).toEqual({ gpus: 4, cores: 3 });
  });

  it('lets a replica wait like any job, and places it once there is room [X21] [X29]', () => {
    const at = scene({ gpus: 3 });
    at.do({ ...applying({ replicas: 2, resources: { gpus: 2 } }), project: 'ml' });
    const [first = '', second = ''] = at.ids();
    expect([why(at, first), why(at, second)]).toEqual(['runs', 'quota: needs 2 GPUs, project ml uses 2 of 3 GPUs']);
    at.do(change({ gpus: 4 }));
    expect(why(at, second)).toBe('runs');
    expect(usageByProject(at.state).get('ml')).toEqual({ gpus: 4, cores: 2 });
  });

  it('is free again when work ends or the quota grows, and then the job runs [I27]', () => {
    const at = scene({ cores: 4 });
    const first = inMl(at, { resources: { cpus: 2.5 } });
    const second = inMl(at, { resources: { cpus: 2 } });
    const third = inMl(at, { resources: { cpus: 2 } });
    expect(why(at, second)).toBe('quota: needs 2 cores, project ml uses 2.5 of 4 cores');
    at.report(at.key(first), { kind: 'JobStarted', port: null }, exited(0));
    expect([why(at, second), why(at, third)]).toEqual(['runs', 'runs']);
    const fourth = inMl(at);
    expect(at.stateOf(fourth)).toBe('PENDING');
    at.do(change({ cores: null }));
    expect(why(at, fourth)).toBe('runs');
  });

  it('holds within one commit, over ranks and over elements of an array [I10]', () => {
    const at = scene({ gpus: 5 });
    at.step(
      submission('a', { array: { size: 9, maxRunning: null }, resources: { gpus: 2 } }, {}, { project: 'ml' }),
      submission('b', { nodes: 2, resources: { gpus: 1 } }, {}, { project: 'ml' }),
      submission('c', { resources: { gpus: 1 } }, {}, { project: 'ml' }),
    );
    expect([at.job('a').live, at.job('b').live, at.job('c').live]).toEqual([2, 0, 1]);
    expect(why(at, 'b')).toBe('quota: needs 2 GPUs, project ml uses 5 of 5 GPUs');
  });

  it('says so where a job asks for more than the project may ever have, and what else is wrong first', () => {
    const at = scene({ gpus: 4 });
    expect(why(at, inMl(at, { resources: { gpus: 8 } }))).toBe('quota: needs 8 GPUs, project ml may use 4 in all');
    expect(why(at, inMl(at, { resources: { gpus: 16 } }))).toMatch(/^no-fit: /);
    expect(why(at, inMl(at, { resources: { gpus: 'all' } }))).toBe('quota: needs 8 GPUs, project ml may use 4 in all');
  });

  it('lowered below what is used ends nothing, and lets through what takes none of it', () => {
    const at = scene({});
    const first = inMl(at, { resources: { gpus: 4 } });
    at.do(change({ gpus: 2 }));
    expect(at.stateOf(first)).toBe('RUNNING');
    expect(why(at, inMl(at))).toBe('runs');
    expect(why(at, inMl(at, { resources: { gpus: 1 } }))).toBe('quota: needs 1 GPU, project ml uses 4 of 2 GPUs');
  });
});

describe('any sequence of commands and reports', () => {
  it('keeps a project within what it may use, however nodes come, go and are lost [X29] [I10]', () => {
    walks(40, ({ at }, commands) => {
      const limits = { gpus: 1, cores: 2 };
      at.do({ kind: 'ChangeProject', project: 'default', quota: limits, by: 'root' });
      at.step(...commands);
      const { gpus: used = 0, cores = 0 } = usageByProject(at.state).get('default') ?? {};
      expect([used <= limits.gpus, cores <= limits.cores]).toEqual([true, true]);
      for (const job of at.state.jobs.values()) {
        if (whyWaiting(at.state, job, at.nowMs)?.reason === 'quota') held += 1;
      }
    });
    // Else the walk proves nothing.
    expect(held).toBeGreaterThan(20);
  });
});

describe('a quota of queued jobs', () => {
  it('refuses one more with the number, in its own project alone [X29]', () => {
    const at = scene({ gpus: 1, queued: 2 });
    const big = { resources: { gpus: 1 } };
    for (let job = 0; job < 3; job += 1) inMl(at, big);
    const refusal = at.refused(submission('more', big, {}, { project: 'ml' }));
    expect(refusal).toMatchObject({ code: 'QUOTA', message: 'project ml has 2 jobs that wait, and may have 2' });
    at.submit(big);
    at.do(change({ gpus: null }));
    inMl(at, big);
  });

  it('counts no replicas, which come by rule', () => {
    const at = scene({ queued: 1, gpus: 0 });
    at.do({ ...applying({ replicas: 3, resources: { gpus: 1 } }), project: 'ml' });
    inMl(at, { resources: { gpus: 1 } });
    expect(at.refused(submission('more', {}, {}, { project: 'ml' })).code).toBe('QUOTA');
  });
});

describe('a quota of replicas', () => {
  const applied = (name: string, replicas: number, project = 'ml') => ({
    ...applying({ replicas }, { name }),
    project,
  });

  it('caps what the services of a project want together, by apply, by scaling and by starting again [X21] [X29]', () => {
    const at = scene({ replicas: 4 });
    at.do(applied('llm', 3));
    at.do(applied('other', 9, 'default'));
    expect(at.refused(applied('web', 2))).toMatchObject({
      code: 'QUOTA',
      message: 'web would have 2 replicas; project ml may have 4, and 3 are wanted beside web',
    });
    at.do(applied('web', 1));
    expect(at.refused({ kind: 'ScaleService', service: 'llm', desired: 4, remove: [], by: 'ada' }).code).toBe('QUOTA');
    at.do({ kind: 'StopService', service: 'llm', by: 'ada' });
    at.do({ kind: 'ScaleService', service: 'web', desired: 2, remove: [], by: 'ada' });
    expect(at.refused(applied('llm', 3)).code).toBe('QUOTA');
    at.do(applied('llm', 2));
  });

  it('lowered below what is wanted ends nothing, and lets services be scaled down and rolled out', () => {
    const at = scene({});
    at.do(applied('llm', 6));
    at.do(change({ replicas: 2 }));
    at.do({ ...applied('llm', 6), spec: { ...applied('llm', 6).spec, env: { A: '1' } } });
    at.scale(4);
    expect(at.refused({ kind: 'ScaleService', service: 'llm', desired: 5, remove: [], by: 'ada' }).code).toBe('QUOTA');
    expect(at.service.desired).toBe(4);
  });
});
