import { describe, expect, it } from 'vitest';
import { chooseOutput } from './choose.ts';
import { createNeutraliser, neutralise } from './escapes.ts';
import { keepStreams } from './fake-streams.testsuite.ts';
import type { LogPiece, StatusLine } from './output.ts';
import { layoutTable } from './table.ts';

const id = 'digits-k3f9q2';
const push: StatusLine = {
  id,
  label: 'pushing workspace',
  detail: '1,204 files  3.1 MiB',
  fraction: 1,
  afterBar: '0.4 s',
  document: { kind: 'push' },
};
const setup: StatusLine = { id, label: 'setup', detail: '12.4 s', document: { kind: 'setup' } };
const running: StatusLine = { id, label: 'running on laptop', detail: 'gpu 0', hint: 'Ctrl-C stops it', document: {} };
const ended: StatusLine = {
  id,
  label: 'COMPLETED',
  detail: 'exited with code 0 after 1 min 8 s',
  tone: 'good',
  document: {},
};
const failed: StatusLine = {
  id,
  label: 'FAILED',
  detail: 'killed by signal 9: out of memory (limit 16 GiB)',
  tone: 'bad',
  below: ['--memory 32GiB'],
  document: {},
};

function piece(text: string, more: Partial<LogPiece> = {}): LogPiece {
  const bytes = Buffer.from(text);
  return {
    job: id,
    label: null,
    step: 'run',
    stream: 'stdout',
    atMs: 0,
    text,
    bytes,
    timestamps: false,
    target: 'stdout',
    ...more,
  };
}

describe('the lines of a job', () => {
  it('look as the interface page has them on a wide terminal', () => {
    const { streams, stderr } = keepStreams({ terminal: true, columns: 120 });
    const output = chooseOutput(streams, { json: false, quiet: false });
    for (const line of [push, setup, running, ended, failed]) output.status(line);
    expect(stderr().replaceAll('\r\x1b[2K', '')).toBe(`\
digits-k3f9q2  pushing workspace   1,204 files  3.1 MiB  ━━━━━━━━━━━━━━━━━━━━ 100 %  0.4 s
digits-k3f9q2  setup               12.4 s
digits-k3f9q2  running on laptop   gpu 0            Ctrl-C stops it
digits-k3f9q2  COMPLETED           exited with code 0 after 1 min 8 s
digits-k3f9q2  FAILED  killed by signal 9: out of memory (limit 16 GiB)
  --memory 32GiB
`);
  });

  it('fit 80 columns: the bar gives way', () => {
    const { streams, stderr } = keepStreams({ terminal: true });
    chooseOutput(streams, { json: false, quiet: false }).status(push);
    const line = stderr().replaceAll('\r\x1b[2K', '').trimEnd();
    expect(Array.from(line).length).toBeLessThanOrEqual(80);
    expect(line).toContain('━');
  });

  it('are plain in a pipe: no bar, no colour', () => {
    const { streams, stderr, stdout } = keepStreams();
    const output = chooseOutput(streams, { json: false, quiet: false });
    output.live(push);
    output.status(push);
    output.status(ended);
    expect(stderr()).toBe(`\
digits-k3f9q2  pushing workspace   1,204 files  3.1 MiB  0.4 s
digits-k3f9q2  COMPLETED           exited with code 0 after 1 min 8 s
`);
    expect(stdout()).toBe('');
  });

  it('colour what carries meaning, and nothing with --no-color', () => {
    const { streams, stderr } = keepStreams({ terminal: true, color: true });
    chooseOutput(streams, { json: false, quiet: false }).status(ended);
    expect(stderr()).toContain('\x1b[32mCOMPLETED');
  });

  it('are one object a line with --json, and silent with --quiet', () => {
    const json = keepStreams();
    const jsonOutput = chooseOutput(json.streams, { json: true, quiet: false });
    jsonOutput.status(push);
    jsonOutput.log(piece('x\n'));
    expect(
      json
        .stdout()
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { kind: string }).kind),
    ).toEqual(['push', 'log']);
    const quiet = keepStreams();
    const quietOutput = chooseOutput(quiet.streams, { json: false, quiet: true });
    quietOutput.status(ended);
    quietOutput.note('x');
    quietOutput.log(piece('kept\n'));
    expect([quiet.stdout(), quiet.stderr()]).toEqual(['kept\n', '']);
  });
});

describe('a live line', () => {
  it('is taken away before output and never cuts into an unfinished line', () => {
    const { streams, stdout, stderr } = keepStreams({ terminal: true });
    const output = chooseOutput(streams, { json: false, quiet: false });
    output.live(setup);
    expect(stderr()).toMatch(/setup +12\.4 s$/);
    output.log(piece('no end yet'));
    const before = stderr();
    output.live(setup);
    expect(stderr()).toBe(before);
    output.log(piece(' – now\n'));
    expect(stderr().length).toBeGreaterThan(before.length);
    expect(stdout()).toBe('no end yet – now\n');
  });
});

describe('what a job prints', () => {
  it('loses its power over the terminal, colours excepted [R4.38]', () => {
    expect(neutralise('a\x1b[31mred\x1b[0m\tb\r\n')).toBe('a\x1b[31mred\x1b[0m\tb\r\n');
    expect(neutralise('\x1b]0;title\x07')).toBe('^[]0;title^G');
    expect(neutralise('\x1b[2J\x1b[H')).toBe('^[[2J^[[H');
    expect(neutralise('\x9b31m\x7f\x00')).toBe('\\x9b31m^?^@');
  });

  it('loses it also when an escape comes in two pieces [R4.38]', () => {
    const safe = createNeutraliser();
    expect([safe('a\x1b'), safe('[3'), safe('1mred\x1b'), safe(']0;x')].join('')).toBe('a\x1b[31mred^[]0;x');
  });

  it('cannot be had by anything else that others chose: names of devices, reasons, addresses, errors [R4.38]', () => {
    const evil = 'a\x1b]0;t\x07\x9b2J\u202eb';
    const safe = 'a^[]0;t^G\\x9b2J\\u202eb';
    for (const terminal of [true, false]) {
      const { streams, stdout, stderr } = keepStreams({ terminal });
      const output = chooseOutput(streams, { json: false, quiet: false });
      output.answer({}, () => evil);
      output.item({}, () => evil);
      output.note(evil);
      output.status({ ...setup, detail: evil });
      output.live({ ...setup, detail: evil });
      output.live(null);
      output.error({ code: 'FAULT', message: evil, hint: evil, path: null, excerpt: evil });
      expect(stdout().replaceAll('\r\x1b[2K', '')).toBe(`${safe}\n${safe}\n`);
      expect(stderr().replaceAll('\r\x1b[2K', '')).not.toMatch(/(?!\n)\p{Cc}|\u202e/u);
      expect(stderr().split(safe).length - 1).toBe(terminal ? 6 : 5);
    }
  });

  it('reaches a pipe byte for byte', () => {
    const { streams, stdout } = keepStreams({ terminal: true, stdoutTerminal: false });
    chooseOutput(streams, { json: false, quiet: false }).log(piece('\x1b]0;t\x07'));
    expect(stdout()).toBe('\x1b]0;t\x07');
  });

  it('is labelled line by line where several are shown', () => {
    const { streams, stdout } = keepStreams();
    const output = chooseOutput(streams, { json: false, quiet: false });
    output.log(piece('a\nb\n', { label: 'sweep-p0w4aa/7' }));
    output.log(piece('c\n', { timestamps: true }));
    expect(stdout()).toBe('sweep-p0w4aa/7  a\nsweep-p0w4aa/7  b\n1970-01-01T00:00:00.000Z  c\n');
  });
});

describe('errors', () => {
  const report = {
    code: 'UNKNOWN_KEY',
    message: 'unknown key "gpus" in [job]',
    excerpt: 'job.toml:4  gpus = 1\n            ^^^^',
    hint: '[job] says what to do; needs go into [profile]:\n  [profile]\n  resources = { gpus = 1 }',
    path: 'job.gpus',
  };

  it('look as the interface page has them', () => {
    const { streams, stderr } = keepStreams();
    chooseOutput(streams, { json: false, quiet: false }).error(report);
    expect(stderr()).toBe(`\
error: unknown key "gpus" in [job]
  job.toml:4  gpus = 1
              ^^^^
  [job] says what to do; needs go into [profile]:
    [profile]
    resources = { gpus = 1 }
`);
  });

  it('are objects with --json', () => {
    const { streams, stderr } = keepStreams();
    chooseOutput(streams, { json: true, quiet: false }).error(report);
    const { code, message, hint, path } = report;
    expect(JSON.parse(stderr())).toEqual({ error: { code, message, hint, path } });
  });
});

describe('a table', () => {
  const head = ['ID', 'STATE', 'WHY'];
  const rows = [
    ['digits-k3f9q2', 'COMPLETED', ''],
    ['llama-7m1xzd', 'PENDING', 'needs 4 GPUs, the largest node has 2 (yard explain llama-7m1xzd)'],
  ];

  it('wraps its last column on a terminal, so that it fits 80 columns', () => {
    const table = layoutTable(head, rows, 80);
    expect(Math.max(...table.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(table).toBe(`\
ID             STATE      WHY
digits-k3f9q2  COMPLETED
llama-7m1xzd   PENDING    needs 4 GPUs, the largest node has 2 (yard explain
                          llama-7m1xzd)`);
  });

  it('has one line a row in a pipe, and no escape of anybody', () => {
    const [, , third] = layoutTable(head, [...rows.slice(1), ['x', 'y', 'z\x1b[2J']], null).split('\n');
    expect(layoutTable(head, rows, null).split('\n')).toHaveLength(3);
    expect(third).toBe('x             y        z^[[2J');
  });

  it('has no line by anything that stands in a cell [R4.38]', () => {
    for (const width of [null, 80]) {
      expect(
        layoutTable(head, [['x', 'y', 'a\r\nllama  READY\tb']], width)
          .split('\n')
          .at(-1),
      ).toBe('x   y      a llama  READY b');
    }
  });
});
