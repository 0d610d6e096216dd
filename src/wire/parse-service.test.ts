import { describe, expect, it } from 'vitest';
import { mergeSettings } from '../core/profile/settings.ts';
import { DocumentError } from './document-error.ts';
import { parseApplyFile, parseJobFile, parseServiceFile } from './parse-file.ts';
import { parseServiceDocument } from './parse-service.ts';

const service = '[service]\nname = "llm"\nrun = "python3 serve.py --port $PORT"\n';
const profile = `${service}[profile]\n`;

/** The refusal of a file, as a person and a script see it. */
async function refusalOf(text: string, read: typeof parseServiceFile | typeof parseJobFile = parseServiceFile) {
  const error = await read(text, 'llm.toml').then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DocumentError)) throw new Error(`expected a DocumentError, got ${String(error)}`);
  return { ...error.refusal, excerpt: error.excerpt };
}

async function settingsOf(text: string) {
  const { layers } = await parseServiceFile(text, 'llm.toml');
  return mergeSettings(layers).settings;
}

describe('a service file', () => {
  it('says what to keep up and how, in the core its own terms [X1] [X20] [X25]', async () => {
    const text = `${service}setup = "make"
workspace = { workdir = "." }
env = { SEED = "1" }

[profile]
replicas = 2
nodes = 1
port = true
spread = "strict"
restart = { policy = "on-failure", backoff = { initial = "2s", max = "20s" }, maxRestarts = 100, giveUp = { failures = 10 }, then = "requeue" }
startup = { http = "/healthz", interval = "1s", failures = 60 }
liveness = { command = "curl -f localhost:$PORT", timeout = "3s", initialDelay = "4s" }
readiness = { tcp = true, interval = "2s", successes = 2 }
rollout = { maxUnavailable = 1, maxSurge = 2, minReady = "7s", progressDeadline = "8m", onFailure = "rollback" }
onNodeLoss = "wait"
`;
    const { spec, layers, profile: named, source } = await parseServiceFile(text, 'llm.toml');
    expect(spec).toMatchObject({ name: 'llm', setup: 'make', workspace: { workdir: '.' }, env: { SEED: '1' } });
    expect([spec.outputs, spec.args, named]).toEqual([[], [], null]);
    expect(source).toMatchObject({ service: { name: 'llm' }, profile: { replicas: 2 } });
    const probe = { intervalMs: 10_000, timeoutMs: 2000, failures: 3, successes: 1, initialDelayMs: 0 };
    const command = { kind: 'command', command: 'curl -f localhost:$PORT' };
    expect(layers).toEqual([
      {
        origin: 'llm.toml',
        values: {
          kind: 'service',
          nodes: 1,
          port: true,
          onNodeLoss: 'wait',
          replicas: 2,
          spread: 'strict',
          restart: {
            policy: 'on-failure',
            backoff: { initialMs: 2000, maxMs: 20_000 },
            maxRestarts: 100,
            giveUp: { kind: 'failures', failures: 10 },
            onGiveUp: 'requeue',
          },
          startup: { ...probe, ask: { kind: 'http', path: '/healthz' }, intervalMs: 1000, failures: 60 },
          liveness: { ...probe, ask: command, timeoutMs: 3000, initialDelayMs: 4000 },
          readiness: { ...probe, ask: { kind: 'tcp' }, intervalMs: 2000, successes: 2 },
          rollout: {
            maxUnavailable: 1,
            maxSurge: 2,
            minReadyMs: 7000,
            progressDeadlineMs: 480_000,
            onFailure: 'rollback',
          },
        },
      },
    ]);
  });

  it('needs a name and a command, and the rest is as services have it [G2] [X1]', async () => {
    expect(await settingsOf(service)).toMatchObject({
      kind: 'service',
      port: true,
      replicas: null,
      restart: { policy: 'always', backoff: { initialMs: 1000, maxMs: 30_000 } },
    });
  });

  it.each([
    ['{ initial = "0s" }', { initialMs: 0, maxMs: 30_000 }],
    ['{ initial = "60s" }', { initialMs: 60_000, maxMs: 60_000 }],
    ['{ max = "500ms" }', { initialMs: 500, maxMs: 500 }],
  ])('fills in the half of backoff = %s that is not written', async (backoff, expected) => {
    expect((await settingsOf(`${profile}restart = { backoff = ${backoff} }\n`)).restart.backoff).toEqual(expected);
  });

  it('takes a named profile above it, and is a service whatever that says [S2]', async () => {
    const read = await parseServiceFile(`profile = "big"\n${service}`, 'llm.toml');
    expect(read).toMatchObject({ profile: 'big', layers: [{ values: { kind: 'service' } }] });
  });

  it.each([
    ['replicas = 1000000000', 'RANGE', 'replicas in [profile] is 1000000000; expected a whole number from 0 to 64'],
    ['replicas = -1', 'RANGE', 'replicas in [profile] is -1'],
    ['replicas = 1.5', 'RANGE', 'replicas in [profile] is 1.5'],
    ['replicas = nan', 'RANGE', 'replicas in [profile] is NaN'],
    ['replicas = "3"', 'RANGE', 'replicas in [profile] is "3"'],
    ['rollout = { maxSurge = 1e9 }', 'RANGE', 'rollout.maxSurge in [profile] is 1000000000'],
  ])('refuses %s with its line and a caret [R4.9]', async (line, code, message) => {
    const refusal = await refusalOf(`${profile}${line}\n`);
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(message);
    expect(refusal.excerpt).toMatch(/^llm\.toml:5 {2}\S.*\n +\^+$/);
  });

  it.each([
    ['restart = { maxRestarts = 9007199254740993 }', 'RANGE'],
    ['startup = { tcp = true, interval = "99999999999d" }', 'RANGE'],
  ])('refuses %s: no number loses digits [R4.10]', async (line, code) => {
    expect((await refusalOf(`${profile}${line}\n`)).code).toBe(code);
  });

  it.each([
    ['a service', `${service}env = { PORT = "80" }\n`, parseServiceFile, 'llm.toml:4'],
    [
      'a job',
      '[job]\nname = "a"\nrun = "b"\nenv = { PORT = "80" }\n[profile]\nport = true\n',
      parseJobFile,
      'llm.toml:4',
    ],
  ])('refuses a port of one own beside the one it is given, in %s [R4.11]', async (_what, text, read, line) => {
    const refusal = await refusalOf(text, read);
    expect(refusal.code).toBe('PORT_CONFLICT');
    expect(refusal.message).toContain('env.PORT is set, and port = true');
    expect(refusal.excerpt).toContain(line);
    expect(
      (await parseServiceFile(`${service}env = { PORT = "80" }\n[profile]\nport = false\n`, 'a')).spec.env,
    ).toEqual({
      PORT: '80',
    });
  });

  it.each([
    ['restart = { giveUp = { restarts = 500, window = "10m" } }', 'NEVER_FIRES', 'the backoff allows at most'],
    ['restart = { backoff = { initial = "9s", max = "1s" } }', 'RANGE', 'less than its initial'],
    ['rollout = { maxSurge = 0 }', 'NEVER_FIRES', 'no replica could ever be replaced'],
    ['liveness = { tcp = true, interval = "1ms" }', 'RANGE', 'expected at least 100 ms'],
    ['liveness = { http = "healthz" }', 'BAD_VALUE', 'a path that starts with "/"'],
    ['array = { size = 3 }', 'BAD_VALUE', 'a service has replicas, not an array'],
  ])('refuses %s in the words of the core, with the line', async (line, code, message) => {
    const refusal = await refusalOf(`${profile}${line}\n`);
    expect(refusal.code).toBe(code);
    expect(refusal.message).toContain(message);
    expect(refusal.excerpt).toContain('llm.toml:5');
  });

  it('refuses probes that have no port to ask, and says what to do [X2]', async () => {
    const refusal = await refusalOf(`${profile}port = false\nliveness = { http = "/h" }\n`);
    expect(refusal).toMatchObject({ code: 'BAD_VALUE', message: 'liveness asks by http, but there is no port to ask' });
    expect(refusal.hint).toContain('port = true');
    expect(refusal.excerpt).toContain('llm.toml:6');
    await parseServiceFile(`${profile}port = false\nliveness = { command = "true" }\n`, 'llm.toml');
  });

  it.each([
    ['liveness = { interval = "1s" }', 'expected a table with one of http = "/path", tcp = true or command'],
    ['liveness = { tcp = true, http = "/" }', 'expected a table with one of http'],
    ['liveness = { tcp = false }', 'expected true'],
    ['restart = { policy = "sometimes" }', 'expected "always" or "on-failure" or "never"'],
    ['restart = { giveUp = { failures = 3, window = "1m" } }', 'expected { failures = 10 }, or { restarts = 5'],
    ['restart = { giveUp = { restarts = 3 } }', 'expected { failures = 10 }, or { restarts = 5'],
    ['restart = { then = "cry" }', 'expected "end" or "requeue"'],
    ['spread = true', 'expected "strict" or "prefer" or "none"'],
    ['rollout = { onFailure = "undo" }', 'expected "pause" or "rollback"'],
  ])('refuses %s with what was expected', async (line, expected) => {
    const refusal = await refusalOf(`${profile}${line}\n`);
    expect(refusal.code).toBe('BAD_VALUE');
    expect(refusal.message).toContain(expected);
  });

  it.each([
    ['[profile]\nreplica = 2\n', 'did you mean "replicas"?'],
    ['[profile]\nliveness = { url = "/h" }\n', 'the keys here are http, tcp, command'],
    ['[profile]\nrestart = { giveup = { failures = 1 } }\n', 'did you mean "giveUp"?'],
    ['outputs = ["a"]\n', 'a service does not end'],
    ['replicas = 2\n', 'how to run it goes into [profile]'],
    ['gpus = 1\n', 'resources = { gpus = 1 }'],
  ])('says what to write in place of %j', async (more, hint) => {
    const refusal = await refusalOf(`${service}${more}`);
    expect(refusal.code).toBe('UNKNOWN_KEY');
    expect(refusal.hint).toContain(hint);
  });

  it('speaks of [service] where the core speaks of a job, and points at the line', async () => {
    const refusal = await refusalOf('[service]\nname = "llm"\nrun = ""\n');
    expect(refusal).toMatchObject({ message: 'service.run is empty', path: 'service.run' });
    expect(refusal.excerpt).toContain('llm.toml:3');
    expect((await refusalOf('[service]\nname = "llm"\nrun = "a"\nenv = { "A=B" = "1" }\n')).excerpt).toContain(':4');
  });

  it('refuses a kind that contradicts it, and a job beside it', async () => {
    expect((await refusalOf(`${profile}kind = "job"\n`)).message).toContain('the profile of a service has "service"');
    expect((await refusalOf(`${service}[job]\nname = "a"\nrun = "b"\n`)).hint).toBe('yard submit takes jobs');
    expect(() => parseServiceDocument({}, { origin: 'sdk' })).toThrow('sdk has no [service]');
  });
});

describe('a profile with the keys of services', () => {
  it('on a job makes it supervised work that stays up [X1]', async () => {
    const { layers } = await parseJobFile(
      '[job]\nname = "a"\nrun = "b"\n[profile]\nreadiness = { tcp = true }\n',
      'job.toml',
    );
    const { settings, origins } = mergeSettings(layers);
    expect(settings).toMatchObject({ kind: 'service', port: true, restart: { policy: 'always' } });
    expect(origins.kind).toBe('job.toml');
  });

  it('stays a job where it says so', async () => {
    const { layers } = await parseJobFile(
      '[job]\nname = "a"\nrun = "b"\n[profile]\nkind = "job"\nrestart = { policy = "on-failure" }\n',
      'job.toml',
    );
    expect(mergeSettings(layers).settings).toMatchObject({ kind: 'job', port: false });
  });
});

describe('a file to apply', () => {
  it('is a service where it says so, and else a profile', async () => {
    expect(await parseApplyFile(service, 'a.toml')).toMatchObject({
      kind: 'service',
      service: { spec: { name: 'llm' } },
    });
    const big = await parseApplyFile('[profile]\nname = "big"\nkind = "service"\nreplicas = 3\n', 'b.toml');
    expect(big).toMatchObject({ kind: 'profile', profile: { name: 'big', values: { kind: 'service', replicas: 3 } } });
  });
});
