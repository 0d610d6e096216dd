import { describe, expect, it } from 'vitest';
import { Scenario, submission } from '../scenario.testsuite.ts';
import { builtInSettings, mergeSettings, settingKeys } from './settings.ts';

describe('effective settings', () => {
  it('are the built-in ones where nothing is said: one core, no GPU, one attempt, no limit [U2] [U5] [X33]', () => {
    const { settings, origins } = mergeSettings([]);
    expect(settings).toEqual(builtInSettings);
    expect(settings).toMatchObject({ timeoutMs: null, retry: { maxAttempts: 1 }, resources: { cpus: 1, gpus: 0 } });
    expect(Object.keys(origins).sort()).toEqual([...settingKeys].sort());
    expect(new Set(Object.values(origins))).toEqual(new Set(['built-in']));
  });

  it('take each value from the last layer that gives it, and say which [X33]', () => {
    const { settings, origins } = mergeSettings([
      { origin: 'profile big@3', values: { resources: { gpus: 2, cpus: 8 }, retry: { maxAttempts: 3 }, priority: 1 } },
      { origin: 'job.toml', values: { resources: { gpus: 1 }, retry: { onExit: [75] } } },
      { origin: '--priority', values: { priority: 0 } },
    ]);
    expect(settings.resources).toMatchObject({ gpus: 1, cpus: 8, memoryMiB: null });
    expect(settings.retry).toEqual({ maxAttempts: 3, onExit: [75] });
    expect(origins).toMatchObject({
      'resources.gpus': 'job.toml',
      'resources.cpus': 'profile big@3',
      'resources.memoryMiB': 'built-in',
      'retry.maxAttempts': 'profile big@3',
      'retry.onExit': 'job.toml',
      priority: '--priority',
    });
  });

  it('replace labels and lists as a whole, and take them back with null or empty ones [X33]', () => {
    const { settings, origins } = mergeSettings([
      {
        origin: 'profile a@1',
        values: {
          resources: { labels: { zone: 'a', disk: 'fast' }, gpuType: 'H100' },
          array: { size: 3, maxRunning: null },
        },
      },
      { origin: '--label', values: { resources: { labels: { zone: 'b' }, gpuType: null }, array: null } },
    ]);
    expect(settings.resources.labels).toEqual({ zone: 'b' });
    expect(settings.resources.gpuType).toBeNull();
    expect(settings.array).toBeNull();
    expect(origins['resources.labels']).toBe('--label');
  });

  it('never change the built-in ones [I6]', () => {
    const before = JSON.stringify(builtInSettings);
    mergeSettings([{ origin: 'x', values: { resources: { cpus: 9 }, retry: { maxAttempts: 9 }, priority: 9 } }]);
    expect(JSON.stringify(builtInSettings)).toBe(before);
  });
});

describe('a named profile', () => {
  const apply = (values: object) => ({ kind: 'ApplyProfile' as const, name: 'big', values, source: null, by: 'ada' });

  it('is versioned, and applied again unchanged it stays as it is [I28]', () => {
    const at = new Scenario();
    expect(at.do(apply({ priority: 1 }))).toEqual({ kind: 'applied', revision: 1, changed: true });
    expect(at.do(apply({ priority: 1 }))).toEqual({ kind: 'applied', revision: 1, changed: false });
    expect(at.do(apply({ priority: 2 }))).toEqual({ kind: 'applied', revision: 2, changed: true });
    expect(at.kinds()).toEqual(['ProfileApplied', 'ProfileApplied']);
  });

  it('stands below what the submission says, named with its revision [X33]', () => {
    const at = new Scenario();
    at.do(apply({ priority: 1, graceMs: 5 }));
    const id = at.submit({ priority: 7 }, {}, { profile: 'big' });
    expect(at.job(id).settings).toMatchObject({ priority: 7, graceMs: 5 });
    expect(at.job(id).origins).toMatchObject({ priority: 'job.toml', graceMs: 'profile big@1' });
    at.do(apply({ graceMs: 6 }));
    expect(at.job(id).settings.graceMs).toBe(5);
  });

  it('that does not exist is refused with those that do [I26]', () => {
    const at = new Scenario();
    at.do(apply({}));
    expect(at.refused(submission('job-1', {}, {}, { profile: 'bug' }))).toMatchObject({
      code: 'NOT_FOUND',
      hint: 'there are: big',
    });
  });

  it('with values that no node could keep is refused [R4.9] [I26]', () => {
    expect(new Scenario().refused(apply({ nodes: 0 })).code).toBe('RANGE');
    expect(new Scenario().refused({ ...apply({}), name: 'Big' }).code).toBe('BAD_NAME');
  });
});
