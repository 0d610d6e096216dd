import { expect, it } from 'vitest';
import { settingKeys } from '../core/profile/settings.ts';
import { nameOfCommand } from './command-document.ts';
import { jobFileJsonSchema } from './json-schema.ts';
import { serviceKeys } from './key-advice.ts';
import { parseJobDocument } from './parse-document.ts';
import { profileKeys, resourceKeys, retryKeys } from './profile-table.ts';
import { refuseSecrets } from './secrets.ts';
import { writeSetting } from './write-setting.ts';

it.each([
  ['timeoutMs', 5_400_000, 'timeout', '"1h30m"'],
  ['timeoutMs', null, 'timeout', 'none'],
  ['resources.memoryMiB', 16_384, 'resources.memory', '"16GiB"'],
  ['resources.labels', { zone: 'a', 'odd key': 'b' }, 'resources.labels', '{ zone = "a", "odd key" = "b" }'],
  ['retry.onExit', [75], 'retry.onExit', '[75]'],
  ['array', { size: 5, maxRunning: null }, 'array', '{ size = 5 }'],
  ['resources.gpus', 'all', 'resources.gpus', '"all"'],
  ['rollout.minReadyMs', 5000, 'rollout.minReady', '"5s"'],
  ['liveness', { http: '/h', intervalMs: 10_000, at: null }, 'liveness', '{ http = "/h", interval = "10s" }'],
])('writes %s as a file has it [X33] [B10]', (key, value, writtenKey, written) => {
  expect(writeSetting(key, value)).toEqual({ key: writtenKey, value: written });
});

it('has a key in the file for every setting of a job, and none besides', () => {
  const ofJobs = settingKeys.filter((key) => !serviceKeys.has(key.split('.')[0] ?? ''));
  const inFile = ofJobs.map((key) => writeSetting(key, null).key).sort();
  const grouped = profileKeys.flatMap((key) => {
    if (key === 'resources') return resourceKeys.map((inner) => `resources.${inner}`);
    return key === 'retry' ? retryKeys.map((inner) => `retry.${inner}`) : [key];
  });
  expect(inFile).toEqual([...grouped].sort());
});

it.each([
  [['python3', 'train.py', '--lr'], 'train'],
  [['sh', '-c', 'exit 7'], 'sh'],
  [['python3', '-m', 'pkg.train'], 'pkg-train'],
  [['/usr/bin/My Prog!'], 'my-prog'],
  [['./run.sh'], 'run'],
  [['…'], 'job'],
])('names the command %j %s', (argv, name) => {
  expect(nameOfCommand(argv)).toBe(name);
});

it('refuses a secret, since none is set [U7] [S1]', () => {
  const document = { job: { name: 'a', run: 'b', env: { HF_TOKEN: { secret: 'hf' } } } };
  const { spec } = parseJobDocument(document, { origin: 'job.toml' });
  const refusal = refuseSecrets(spec, (key) => `job.toml:7 env.${key}`);
  expect(refusal?.message).toBe('secret "hf" is not set (job.toml:7 env.HF_TOKEN)');
  expect(refusal?.refusal.hint).toContain('--env HF_TOKEN');
});

it('describes a job file as a JSON schema that knows the six keys [S1]', () => {
  const schema = JSON.stringify(jobFileJsonSchema());
  for (const key of ['name', 'setup', 'run', 'workspace', 'outputs', 'env']) expect(schema).toContain(`"${key}"`);
});
