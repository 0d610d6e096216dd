import { describe, expect, it } from 'vitest';
import { decide } from '../decide.ts';
import type { PartialSettings } from '../profile/settings.ts';
import { mergeSettings } from '../profile/settings.ts';
import { contextAt, Scenario, specOf, submission } from '../scenario.testsuite.ts';
import { byteLength, checkName, checkOutputPath, checkSettings, checkSpec } from './check-spec.ts';
import { parseJobReference } from './job-id.ts';
import type { JobSpec } from './spec.ts';

const code = (more: Partial<JobSpec>) => checkSpec(specOf(more))?.code ?? null;
const settingsCode = (values: PartialSettings) =>
  checkSettings(mergeSettings([{ origin: 'x', values }]).settings)?.code ?? null;

describe('a spec', () => {
  it('is taken as people write them', () => {
    const env = { A: 'line 1\nline 2 "quoted" $X \\ ä €', B: { secret: 'token' }, 'with.dot': '' };
    expect(
      code({ run: 'echo "a\tb"\nexit 0', setup: ['make', '-j'], outputs: ['out', 'a/b.txt', './c', 'a..b'], env }),
    ).toBeNull();
  });

  it.each(['/etc/passwd', '../x', 'a/../../x', '..', '', 'a/..'])(
    'is refused with the output path %j [R4.1] [S5]',
    (path) => {
      expect(checkOutputPath(path)?.code).toBe('PATH_ESCAPE');
      expect(code({ outputs: ['fine', path] })).toBe('PATH_ESCAPE');
    },
  );

  it('is refused with NUL anywhere, and with control bytes in names and paths [R4.5]', () => {
    const bad: readonly Partial<JobSpec>[] = [
      { run: 'a\0b' },
      { run: ['a', 'b\0'] },
      { setup: '\0' },
      { args: ['\0'] },
      { env: { A: 'x\0' } },
      { env: { 'A\n': 'x' } },
      { env: { A: { secret: 's\0' } } },
      { outputs: ['a\nb'] },
      { workspace: { workdir: '.', exclude: ['a\u007f'] } },
      { workspace: { workdir: 'a\0', exclude: [] } },
    ];
    for (const spec of bad) expect([spec, code(spec)]).toEqual([spec, 'BAD_BYTE']);
  });

  it('is refused with more outputs than a node can tell of in one message [R4.9]', () => {
    const many = (count: number, path: string): string[] => Array.from({ length: count }, (_, at) => `${path}${at}`);
    expect(code({ outputs: many(1000, 'out/') })).toBeNull();
    expect(code({ outputs: many(1001, 'out/') })).toBe('RANGE');
    expect(code({ outputs: many(100, 'x'.repeat(2000)) })).toBe('RANGE');
  });

  it('is refused with an environment name that no process could have [R4.6]', () => {
    for (const key of ['', '=', 'A=B', 'A\0']) expect(code({ env: { [key]: 'x' } })).toBe('BAD_ENV_KEY');
  });

  it('is refused when the kernel would not pass it: one value, one argument, or all together [R4.7]', () => {
    const long = 'x'.repeat(128 * 1024);
    expect(code({ args: [long] })).toBe('ENV_TOO_LARGE');
    expect(code({ run: ['a', long] })).toBe('ENV_TOO_LARGE');
    expect(code({ env: { A: long } })).toBe('ENV_TOO_LARGE');
    expect(code({ args: [long.slice(1)] })).toBeNull();
    expect(code({ args: ['ä'.repeat(65_536)] })).toBe('ENV_TOO_LARGE');
    const many = Object.fromEntries(Array.from({ length: 19 }, (_, index) => [`K${index}`, 'x'.repeat(100_000)]));
    expect(code({ env: many })).toBe('ENV_TOO_LARGE');
  });

  it('is refused without a command', () => {
    for (const run of ['', ' \n', [], ['']] as const) expect(code({ run })).toBe('BAD_VALUE');
  });

  it('has a name of 1 to 50 of a-z, 0-9 and "-" [R4.13]', () => {
    for (const name of ['a', '0', 'a-b-', 'x'.repeat(50)]) expect(checkName(name, 'job.name')).toBeNull();
    for (const name of ['', '-a', 'A', 'a_b', 'a.b', 'а', 'a\n', 'x'.repeat(51), 'x'.repeat(10_000_000)]) {
      const refusal = checkName(name, 'job.name');
      expect(refusal?.code).toBe('BAD_NAME');
      expect(refusal?.message.length).toBeLessThan(100);
    }
  });

  it('counts bytes as UTF-8 does', () => {
    expect(['', 'a', 'ä', '€', '😀', '\ud800'].map(byteLength)).toEqual([0, 1, 2, 3, 4, 3]);
  });
});

describe('settings', () => {
  it('are refused outside what is allowed: fractions, negatives, what is no number or too large [R4.9] [R4.10]', () => {
    for (const bad of [1e9, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '3' as unknown as number]) {
      expect(settingsCode({ nodes: bad })).toBe('RANGE');
      expect(settingsCode({ retry: { maxAttempts: bad } })).toBe('RANGE');
      expect(settingsCode({ resources: { gpus: bad } })).toBe('RANGE');
      expect(settingsCode({ array: { size: bad, maxRunning: null } })).toBe('RANGE');
      expect(settingsCode({ array: { size: 3, maxRunning: bad } })).toBe('RANGE');
      expect(settingsCode({ retry: { onExit: [bad] } })).toBe('RANGE');
    }
    for (const bad of [-1, 1.5, Number.NaN, 2 ** 53]) {
      expect(settingsCode({ timeoutMs: bad })).toBe('RANGE');
      expect(settingsCode({ graceMs: bad })).toBe('RANGE');
      expect(settingsCode({ resources: { memoryMiB: bad } })).toBe('RANGE');
      expect(settingsCode({ resources: { gpuMemoryMiB: bad } })).toBe('RANGE');
      expect(settingsCode({ resources: { diskMiB: bad } })).toBe('RANGE');
      expect(settingsCode({ priority: bad * 1001 })).toBe('RANGE');
    }
    for (const bad of [-0.5, Number.NaN, 5000]) expect(settingsCode({ resources: { cpus: bad } })).toBe('RANGE');
  });

  it('may share a core and ask for all GPUs', () => {
    expect(settingsCode({ resources: { cpus: 0.5, gpus: 'all' }, graceMs: 0, setupReuse: ['a/b'] })).toBeNull();
  });

  it('name files to reuse setup by inside the work directory [R4.1]', () => {
    expect(settingsCode({ setupReuse: ['../x'] })).toBe('PATH_ESCAPE');
  });
});

describe('a submission', () => {
  it('that is refused says where, and changes nothing [I26]', () => {
    const at = new Scenario();
    expect(at.refused(submission('job-1', {}, { outputs: ['/x'] }))).toMatchObject({
      code: 'PATH_ESCAPE',
      path: 'job.outputs',
    });
    expect(at.refused(submission('job-1', { nodes: 0 }))).toMatchObject({ code: 'RANGE', path: 'profile.nodes' });
    expect(at.refused(submission('job-1', {}, {}, { project: '../x' }))).toMatchObject({
      code: 'BAD_NAME',
      path: 'project',
    });
  });

  it('takes the first of its ids that neither a live nor an archived job has', () => {
    const at = new Scenario();
    at.submit({}, {}, { ids: ['a-1'] });
    expect(at.submit({}, {}, { ids: ['a-1', 'a-2'] })).toBe('a-2');
    expect(at.refused(submission('x', {}, {}, { ids: ['a-1', 'a-2'] })).code).toBe('ID_TAKEN');
    const context = { ...contextAt(0), archivedIds: new Set(['a-3']) };
    const decision = decide(at.state, submission('x', {}, {}, { ids: ['a-3', 'a-4'] }), context);
    expect(decision).toMatchObject({ answer: { kind: 'submitted', job: 'a-4' } });
  });

  it('is refused when its workspace was not pushed', () => {
    const at = new Scenario();
    const command = submission('job-1', {}, { workspace: { workdir: '.', exclude: [] } });
    const context = { ...contextAt(0), missingBlobs: new Set(['a'.repeat(64)]) };
    expect(decide(at.state, command, context)).toMatchObject({ code: 'MISSING_BLOBS' });
  });
});

it('is addressed by id or by id and part', () => {
  expect(parseJobReference('digits-k3f9q2')).toEqual({ job: 'digits-k3f9q2', part: null });
  expect(parseJobReference('digits-k3f9q2/12')).toEqual({ job: 'digits-k3f9q2', part: 12 });
  for (const text of ['', '/1', 'a/', 'a/x', 'a/-1', 'A', '-a', 'x'.repeat(64), 'a/1234567890'])
    expect(parseJobReference(text)).toBeNull();
});
