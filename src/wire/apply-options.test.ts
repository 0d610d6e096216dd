import { describe, expect, it } from 'vitest';
import { mergeSettings } from '../core/profile/settings.ts';
import { applyOptions } from './apply-options.ts';
import { DocumentError } from './document-error.ts';
import type { SubmissionOptions } from './option-changes.ts';
import { parseJobDocument } from './parse-document.ts';

const file = parseJobDocument(
  {
    job: { name: 'digits', run: 'train', env: { A: '1' }, workspace: { workdir: '.' } },
    profile: { resources: { gpus: 1, labels: { zone: 'a' } }, array: { size: 10, maxRunning: 2 } },
  },
  { origin: 'job.toml' },
);

function refusalOf(options: SubmissionOptions): DocumentError {
  try {
    applyOptions(file, options);
  } catch (error) {
    if (error instanceof DocumentError) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('options of a submission', () => {
  it('become layers that name the option, over those of the file [X33]', () => {
    const options = { gpus: 'all', gpuType: 'H100', cpus: '0.5', memory: '8GiB', timeout: '90s', maxAttempts: '3' };
    const { layers } = applyOptions(file, options);
    const { settings, origins } = mergeSettings(layers);
    expect(settings).toMatchObject({
      resources: { gpus: 'all', gpuType: 'H100', cpus: 0.5, memoryMiB: 8192 },
      timeoutMs: 90_000,
      retry: { maxAttempts: 3, onExit: [] },
    });
    expect(origins).toMatchObject({
      'resources.gpus': '--gpus',
      'resources.memoryMiB': '--memory',
      'resources.labels': 'job.toml',
      timeoutMs: '--timeout',
      'retry.maxAttempts': '--max-attempts',
      graceMs: 'built-in',
    });
  });

  it('keep the rest of what is replaced as a whole: the array its limit, the labels each other [B4]', () => {
    const { settings } = mergeSettings(applyOptions(file, { array: '100', label: ['rack=7'] }).layers);
    expect(settings.array).toEqual({ size: 100, maxRunning: 2 });
    expect(settings.resources.labels).toEqual({ zone: 'a', rack: '7' });
  });

  it('set every other key, as TOML where it is TOML and as text where it is not', () => {
    const set = [
      'retry.onExit=[75, 76]',
      'onNodeLoss=wait',
      'profile.grace=5s',
      'setup=make all',
      'env.B=007',
      'retry={maxAttempts=2}',
    ];
    const { spec, layers } = applyOptions(file, { set });
    const { settings, origins } = mergeSettings(layers);
    expect(settings).toMatchObject({ onNodeLoss: 'wait', graceMs: 5000, retry: { maxAttempts: 2, onExit: [75, 76] } });
    expect(origins['retry.onExit']).toBe('--set');
    expect(spec).toMatchObject({ setup: 'make all', env: { A: '1', B: '007' } });
  });

  it('change what to do: name, environment, files, arguments', () => {
    const options: SubmissionOptions = {
      name: 'other',
      env: ['A=x=y', 'HOME'],
      envFiles: [{ name: 'vars', text: '# comment\nexport C="a\\nb"\nD=\'$x\'\n\nE= plain \n' }],
      secret: ['TOKEN=hf'],
      workspace: 'src',
      exclude: ['*.bin'],
      output: ['out'],
    };
    const { spec } = applyOptions(file, options, { shellValue: (key) => `shell ${key}`, args: ['--lr', '0.1'] });
    expect(spec).toEqual({
      name: 'other',
      run: 'train',
      setup: null,
      env: { A: 'x=y', HOME: 'shell HOME', C: 'a\nb', D: '$x', E: 'plain', TOKEN: { secret: 'hf' } },
      workspace: { workdir: 'src', exclude: ['*.bin'] },
      outputs: ['out'],
      args: ['--lr', '0.1'],
    });
    expect(applyOptions(file, { workspace: false }).spec.workspace).toBeNull();
  });

  it('lie over the source too, which submitted again gives the same job', () => {
    const changed = applyOptions(file, { gpus: '4', env: ['B=2'], array: '5' }, { args: ['x'] });
    const again = parseJobDocument(changed.source, { origin: 'digits-k3f9q2' });
    expect(again.spec).toEqual(changed.spec);
    expect(mergeSettings(again.layers).settings).toEqual(mergeSettings(changed.layers).settings);
    expect(JSON.stringify(file.source)).not.toContain('"B"');
  });

  it.each([
    [{ gpus: '-1' }, 'RANGE', '--gpus is -1; expected a whole number from 0 to 4096, or "all"'],
    [{ gpus: 'some' }, 'RANGE', '--gpus is "some"; expected a whole number from 0 to 4096, or "all"'],
    [{ nodes: '1000000000' }, 'RANGE', '--nodes is 1000000000; expected a whole number from 1 to 4096'],
    [{ timeout: 'later' }, 'BAD_VALUE', '--timeout is "later"; expected a duration such as'],
    [{ set: ['image="x"'] }, 'RESERVED', '--set: "image" is a reserved word and does nothing yet'],
    [{ set: ['profile.mounts=[]'] }, 'RESERVED', '"mounts" is a reserved word and does nothing yet'],
    [{ set: ['user=root'] }, 'PRIVILEGE', '--set: "user" is refused'],
    [{ set: ['colour="x"'] }, 'UNKNOWN_KEY', '--set: unknown key "colour"'],
    [{ set: ['retry.onExit=[75'] }, 'BAD_VALUE', '--set retry.onExit is "[75"; expected a list of exit codes'],
    [{ set: ['job.run=7'] }, 'BAD_VALUE', '--set job.run is 7; expected text'],
    [{ priority: '99999999999999999999' }, 'RANGE', '--priority is 100000000000000000000; whole numbers go up to 2^53'],
    [{ set: ['resources.gpuz=1'] }, 'UNKNOWN_KEY', 'unknown key "gpuz"'],
    [{ set: ['nonsense'] }, 'BAD_VALUE', '--set nonsense: expected KEY=VALUE'],
    [{ name: 'Bad' }, 'BAD_NAME', '"Bad" is not a name'],
    [{ env: ['NOT_THERE'] }, 'BAD_VALUE', '--env NOT_THERE: this shell has no NOT_THERE'],
    [{ profile: 'No Name' }, 'BAD_NAME', '"No Name" is not a name'],
  ] as const)('refuses %j by its name [R4.9]', (options, code, message) => {
    const error = refusalOf(options);
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it.each(['env.__proto__=x', 'resources.__proto__.polluted=1', 'constructor.prototype.polluted=1'])(
    'refuse --set %s, and nothing is polluted [R4.19]',
    (assignment) => {
      expect(refusalOf({ set: [assignment] }).code).toBe('UNKNOWN_KEY');
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    },
  );

  it('refuse to exclude from a workspace that is not there', () => {
    const bare = parseJobDocument({ job: { name: 'a', run: 'b' } }, { origin: 'x' });
    expect(() => applyOptions(bare, { exclude: ['a'] })).toThrow('--exclude without a workspace');
  });

  it('merge groups of what stays up key by key, and take a probe with its other keys [X1] [X33]', () => {
    const file = { job: { name: 'a', run: 'b' }, profile: { port: true, liveness: { http: '/h', failures: 9 } } };
    const set = ['restart={ policy = "on-failure" }', 'restart.backoff.initial=0s', 'liveness.interval=1s'];
    const { layers } = applyOptions(parseJobDocument(file, { origin: 'job.toml' }), { set });
    const { settings, origins } = mergeSettings(layers);
    expect(settings.kind).toBe('service');
    expect(settings.restart).toMatchObject({ policy: 'on-failure', backoff: { initialMs: 0, maxMs: 30_000 } });
    expect(settings.liveness).toMatchObject({ ask: { kind: 'http', path: '/h' }, failures: 9, intervalMs: 1000 });
    expect(origins).toMatchObject({ kind: '--set', 'restart.policy': '--set', 'rollout.maxSurge': 'built-in' });
  });
});
