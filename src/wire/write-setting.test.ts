import { expect, it } from 'vitest';
import { settingKeys } from '../core/profile/settings.ts';
import { refuse } from '../core/refusal.ts';
import { nameOfCommand } from './command-document.ts';
import { jobFileJsonSchema, profileFileJsonSchema, serviceFileJsonSchema } from './json-schema.ts';
import { parseJobDocument } from './parse-document.ts';
import { profileKeys, resourceKeys, retryKeys } from './profile-table.ts';
import { placeUnsetSecret } from './secrets.ts';
import { supervisionKeys } from './supervision-table.ts';
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
  ['readiness', { ask: { kind: 'tcp' }, intervalMs: 2000 }, 'readiness', '{ tcp = true, interval = "2s" }'],
  ['startup', { ask: { kind: 'command', command: ['ok'] } }, 'startup', '{ command = ["ok"] }'],
  [
    'liveness',
    { ask: { kind: 'http', path: '/h' }, intervalMs: 10_000, failures: 3 },
    'liveness',
    '{ http = "/h", interval = "10s", failures = 3 }',
  ],
  ['restart.onGiveUp', 'requeue', 'restart.then', '"requeue"'],
  ['restart.backoff', { initialMs: 1000, maxMs: 30_000 }, 'restart.backoff', '{ initial = "1s", max = "30s" }'],
  ['restart.giveUp', { kind: 'failures', failures: 10 }, 'restart.giveUp', '{ failures = 10 }'],
  [
    'restart.giveUp',
    { kind: 'restarts', restarts: 5, windowMs: 600_000 },
    'restart.giveUp',
    '{ restarts = 5, window = "10m" }',
  ],
])('writes %s as a file has it [X33] [B10]', (key, value, writtenKey, written) => {
  expect(writeSetting(key, value)).toEqual({ key: writtenKey, value: written });
});

it('has a key in the file for every setting, and none besides', () => {
  const inFile = settingKeys.map((key) => writeSetting(key, null).key).sort();
  const groups: Readonly<Record<string, readonly string[] | undefined>> = {
    resources: resourceKeys,
    retry: retryKeys,
    restart: supervisionKeys.restart,
    rollout: supervisionKeys.rollout,
  };
  const grouped = profileKeys.flatMap((key) => groups[key]?.map((inner) => `${key}.${inner}`) ?? [key]);
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

it('names the line that asks for a secret which is not set, and touches no other refusal [U7]', () => {
  const unset = refuse('SECRET_NOT_SET', 'secret "hf" is not set (env.HF_TOKEN)', { path: 'job.env.HF_TOKEN' });
  const { message } = placeUnsetSecret(unset, 'job.toml:7 env.HF_TOKEN');
  expect(message).toBe('secret "hf" is not set (job.toml:7 env.HF_TOKEN)');
  const other = refuse('NOT_FOUND', 'no such thing (env.A)');
  expect(placeUnsetSecret(other, 'job.toml:7 env.A')).toBe(other);
});

it('reads a secret as a variable or as a file [U7]', () => {
  const read = (value: unknown) =>
    parseJobDocument({ job: { name: 'a', run: 'b', env: { KEY: value } } }, { origin: 'job.toml' }).spec.env.KEY;
  expect(read({ secret: 'hf' })).toEqual({ secret: 'hf' });
  expect(read({ secret: 'hf', file: true })).toEqual({ secret: 'hf', file: true });
  expect(() => read({ secret: 'hf', path: '/x' })).toThrow();
  expect(() => read({ secret: '../hf' })).toThrow(/expected 1 to 64 letters/);
});

it('describes a job file as a JSON schema that knows the six keys [S1]', () => {
  const schema = JSON.stringify(jobFileJsonSchema());
  for (const key of ['name', 'setup', 'run', 'workspace', 'outputs', 'env']) expect(schema).toContain(`"${key}"`);
});

it('describes service and profile files as JSON schemas that know every key', () => {
  const service = JSON.stringify(serviceFileJsonSchema());
  for (const key of ['service', 'replicas', 'liveness', 'giveUp', 'progressDeadline']) expect(service).toContain(key);
  expect(service).not.toContain('"outputs"');
  expect(JSON.stringify(profileFileJsonSchema())).toContain('"required":["name"]');
});
