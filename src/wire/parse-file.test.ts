import { describe, expect, it } from 'vitest';
import { DocumentError } from './document-error.ts';
import { parseEnvFile } from './env-file.ts';
import { parseJobFile, parseProfileFile } from './parse-file.ts';

const job = '[job]\nname = "digits"\nrun = "python3 train.py"\n';

/** The refusal of a file, as a person and a script see it. */
async function refusalOf(text: string, read: typeof parseJobFile | typeof parseProfileFile = parseJobFile) {
  const error = await read(text, 'job.toml').then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof DocumentError)) throw new Error(`expected a DocumentError, got ${String(error)}`);
  return { ...error.refusal, excerpt: error.excerpt };
}

describe('a job file', () => {
  it('says what to do and how, in the core its own terms [S1] [U4]', async () => {
    const text = `
[job]
name = "digits"
setup = "make"
run = ["python3", "train.py"]
workspace = { workdir = ".", exclude = ["/artifacts"] }
outputs = ["metrics.jsonl"]
env = { SEED = "1", HF_TOKEN = { secret = "hf" } }

[profile]
resources = { gpus = "all", gpuMemory = "40GiB", memory = "16GiB", cpus = 0.5 }
timeout = "2h"
retry = { maxAttempts = 3, onExit = [75] }
array = { size = 100, maxRunning = 8 }
port = true
`;
    const { spec, layers, profile } = await parseJobFile(text, 'job.toml');
    expect(spec).toEqual({
      name: 'digits',
      setup: 'make',
      run: ['python3', 'train.py'],
      workspace: { workdir: '.', exclude: ['/artifacts'] },
      outputs: ['metrics.jsonl'],
      env: { SEED: '1', HF_TOKEN: { secret: 'hf' } },
      args: [],
    });
    expect(profile).toBeNull();
    expect(layers).toEqual([
      {
        origin: 'job.toml',
        values: {
          resources: { gpus: 'all', gpuMemoryMiB: 40960, memoryMiB: 16384, cpus: 0.5 },
          timeoutMs: 7_200_000,
          retry: { maxAttempts: 3, onExit: [75] },
          array: { size: 100, maxRunning: 8 },
          port: true,
        },
      },
    ]);
  });

  it('names a profile at its top, and JSON says the same as TOML', async () => {
    const toml = await parseJobFile(`profile = "big"\n${job}`, 'job.toml');
    const json = await parseJobFile('{"profile":"big","job":{"name":"digits","run":"python3 train.py"}}', 'job.toml');
    expect(toml.profile).toBe('big');
    expect(json).toEqual(toml);
  });

  it('is the same as an editor of Windows writes it, and so are variables', async () => {
    const text = `${job}setup = '''\ncd src\nmake\n'''\nenv = { END = "a\\r\\nb" }\n`;
    const plain = await parseJobFile(text, 'job.toml');
    expect(plain.spec).toMatchObject({ setup: 'cd src\nmake\n', env: { END: 'a\r\nb' } });
    expect(await parseJobFile(`\ufeff${text.replaceAll('\n', '\r\n')}`, 'job.toml')).toEqual(plain);
    const json = '{"job":{"name":"digits","run":"true"}}';
    expect(await parseJobFile(`\ufeff${json}`, 'job.json')).toEqual(await parseJobFile(json, 'job.json'));
    expect(parseEnvFile('\ufeffA=1\r\nB="2\r\n3"\r\n', 'vars')).toEqual([
      ['A', '1'],
      ['B', '2\n3'],
    ]);
  });

  it('shows an unknown key with its line, and where it belongs [S1]', async () => {
    const { code, message, excerpt, hint } = await refusalOf(`${job}gpus = 1\n`);
    expect(code).toBe('UNKNOWN_KEY');
    expect(message).toBe('unknown key "gpus" in [job]');
    expect(excerpt).toBe('job.toml:4  gpus = 1\n            ^^^^');
    expect(hint).toBe('[job] says what to do; needs go into [profile]:\n  [profile]\n  resources = { gpus = 1 }');
  });

  it('finds a misspelt key inside a table on one line', async () => {
    const { message, excerpt, hint } = await refusalOf(`${job}workspace = { workdir = ".", exlude = [] }\n`);
    expect(message).toBe('unknown key "exlude" in workspace of [job]');
    expect(excerpt).toMatch(/^job\.toml:4 {2}workspace = .*\n {41}\^{6}$/);
    expect(hint).toBe('did you mean "exclude"?');
  });

  it('reports what is misspelt before what is missing', async () => {
    expect((await refusalOf('[job]\nname = "a"\nrum = "x"\n')).message).toBe('unknown key "rum" in [job]');
    expect((await refusalOf('[job]\nname = "a"\n')).code).toBe('MISSING_KEY');
    expect((await refusalOf('')).message).toBe('job.toml has no [job]');
  });

  it.each([
    ['job', 'timeout = "2h"', 'how to run it goes into [profile]'],
    ['job', 'profile = "big"', 'a profile by name stands above [job]'],
    ['profile', 'env = { A = "1" }', 'what to do goes into [job]'],
    ['profile', 'memory = "1GiB"', 'needs go into resources'],
    ['profile', 'name = "x"', 'to use a profile by name'],
  ])('tells in [%s] where %s goes', async (table, line, hint) => {
    const text = table === 'job' ? `${job}${line}\n` : `${job}[profile]\n${line}\n`;
    const refusal = await refusalOf(text);
    expect(refusal.code).toBe('UNKNOWN_KEY');
    expect(refusal.hint).toContain(hint);
  });

  it('refuses reserved words with a sentence, and says where services go', async () => {
    expect((await refusalOf(`${job}[profile]\nimage = "ubuntu"\n`)).code).toBe('RESERVED');
    expect((await refusalOf(`${job}mounts = ["/data"]\n`)).message).toContain('"mounts" is a reserved word');
    const service = await refusalOf('[service]\nname = "llm"\nrun = "serve"\n');
    expect(service).toMatchObject({ code: 'UNKNOWN_KEY', excerpt: 'job.toml:1  [service]\n             ^^^^^^^' });
    expect(service.hint).toContain('yard apply takes services');
    expect((await refusalOf('[cluster]\nname = "pool"\n')).code).toBe('RESERVED');
  });

  it('points at TOML that does not parse', async () => {
    const { code, excerpt } = await refusalOf('[job]\nname = = "a"\n');
    expect(code).toBe('BAD_REQUEST');
    expect(excerpt).toBe('job.toml:2  name = = "a"\n                   ^');
  });
});

describe('bad input in a job file', () => {
  it.each(['1000000000', '-1', '1.5', 'nan', 'inf', '"3"'])('refuses %s nodes by their range [R4.9]', async (count) => {
    const refusal = await refusalOf(`${job}[profile]\nnodes = ${count}\n`);
    expect(refusal.code).toBe('RANGE');
    expect(refusal.message).toContain('expected a whole number from 1 to 4096');
    expect(refusal.excerpt).toContain('job.toml:5  nodes = ');
  });

  it.each(['-1', '0.5', '"two"'])('refuses %s GPUs [R4.9]', async (count) => {
    const refusal = await refusalOf(`${job}[profile]\nresources = { gpus = ${count} }\n`);
    expect(refusal).toMatchObject({ code: 'RANGE', path: 'profile.resources.gpus' });
  });

  it('refuses whole numbers that a double cannot hold, and durations without end [R4.10]', async () => {
    expect((await refusalOf(`${job}[profile]\npriority = 9007199254740993\n`)).code).toBe('RANGE');
    expect((await refusalOf(`${job}[profile]\ntimeout = "99999999999999d"\n`)).code).toBe('RANGE');
    expect((await refusalOf(`${job}[profile]\nresources = { memory = "99999999999TiB" }\n`)).code).toBe('RANGE');
    expect((await refusalOf(`${job}[profile]\ntimeout = "soon"\n`)).code).toBe('BAD_VALUE');
    expect((await refusalOf('{"job":{"name":"a","run":"b"},"profile":{"priority":9007199254740993}}')).code).toBe(
      'RANGE',
    );
  });

  it.each(['../secret', '/etc/passwd', 'a/../../b'])('refuses the output %s [R4.1]', async (path) => {
    const refusal = await refusalOf(`${job}outputs = ["ok", "${path}"]\n`);
    expect(refusal).toMatchObject({ code: 'PATH_ESCAPE', path: 'job.outputs' });
    expect(refusal.excerpt).toContain('job.toml:4');
  });

  it('refuses control bytes where they reach the operating system [R4.5]', async () => {
    expect((await refusalOf(`${job}env = { A = "a\\u0000b" }\n`)).code).toBe('BAD_BYTE');
    expect((await refusalOf(`${job}outputs = ["a\\u0007"]\n`)).code).toBe('BAD_BYTE');
  });

  it('refuses an environment name with "=" in it [R4.6]', async () => {
    const refusal = await refusalOf(`${job}[job.env]\n"A=B" = "1"\n`);
    expect(refusal).toMatchObject({ code: 'BAD_ENV_KEY' });
    expect(refusal.excerpt).toContain('job.toml:5  "A=B" = "1"');
  });

  it('refuses what the kernel would not take [R4.7]', async () => {
    expect((await refusalOf(`${job}env = { A = "${'x'.repeat(140_000)}" }\n`)).code).toBe('ENV_TOO_LARGE');
  });

  it.each(['Digits', 'dígits', 'a b', '', '-x', 'x'.repeat(51)])('refuses the name %j [R4.13]', async (name) => {
    expect((await refusalOf(`[job]\nname = "${name}"\nrun = "x"\n`)).code).toBe('BAD_NAME');
  });

  it('refuses more than 1 MiB before it is parsed, and a 10 MB name with it [R4.13] [R4.20]', async () => {
    expect((await refusalOf(`[job]\nname = "${'x'.repeat(10_000_000)}"\n`)).code).toBe('TOO_LARGE');
  });

  it('refuses nesting without end, in JSON and in TOML [R4.18] [R4.20]', async () => {
    const deep = 100_000;
    expect((await refusalOf(`{"job":${'['.repeat(deep)}${']'.repeat(deep)}}`)).code).toBe('TOO_DEEP');
    expect((await refusalOf(`x = ${'['.repeat(deep)}${']'.repeat(deep)}\n`)).code).toBe('TOO_DEEP');
    expect((await refusalOf(`[${Array(200).fill('a').join('.')}]\nb = 1\n`)).code).toBe('TOO_DEEP');
    // To find its place took a time that grew with the square of its length.
    expect((await refusalOf(`${Array(20_000).fill('a').join('.')} = 1\n`)).code).toBe('TOO_DEEP');
  });

  it.each(['__proto__', 'constructor', 'prototype'])(
    'refuses the key %s, and nothing is polluted [R4.19]',
    async (key) => {
      expect((await refusalOf(`${job}[job.env.${key}]\npolluted = "yes"\n`)).code).toBe('UNKNOWN_KEY');
      expect((await refusalOf(`{"job":{"name":"a","run":"b","${key}":{"polluted":"yes"}}}`)).code).toBe('UNKNOWN_KEY');
      expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
    },
  );

  it('refuses patterns that take for ever to match [R4.22]', async () => {
    const pattern = Array(20).fill('**').join('/');
    const refusal = await refusalOf(`${job}workspace = { workdir = ".", exclude = ["${pattern}"] }\n`);
    expect(refusal.code).toBe('RANGE');
  });

  it.each(['uid = 0', 'user = "root"', 'setuid = true'])('refuses %s as a matter of rights [R4.43]', async (line) => {
    expect((await refusalOf(`${job}${line}\n`)).code).toBe('PRIVILEGE');
  });

  it('takes shell and SQL text in values as the text it is [R4.39]', async () => {
    const value = `'; DROP TABLE facts; -- $(rm -rf /) \\"`;
    const { spec } = await parseJobFile(`${job}env = { A = "${value}" }\n`, 'job.toml');
    expect(spec.env.A).toBe(`'; DROP TABLE facts; -- $(rm -rf /) "`);
  });
});

describe('a profile file', () => {
  it('has a name and the keys of a profile [X33]', async () => {
    const text = '[profile]\nname = "big"\nkind = "job"\nresources = { gpus = 8 }\n';
    const { name, values } = await parseProfileFile(text, 'big.toml');
    expect({ name, values }).toEqual({ name: 'big', values: { kind: 'job', resources: { gpus: 8 } } });
  });

  it('says what is missing or too much', async () => {
    expect((await refusalOf('[profile]\nnodes = 2\n', parseProfileFile)).code).toBe('MISSING_KEY');
    expect((await refusalOf(job, parseProfileFile)).code).toBe('UNKNOWN_KEY');
  });
});
