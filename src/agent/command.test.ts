import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv, createTestNode, script, type TestNode } from './attempt.testsuite.ts';
import { buildArgv, parseInterpreterLine, readFailedLine } from './command.ts';

let node: TestNode;
beforeAll(async () => {
  node = await createTestNode();
});
afterAll(() => node.close());

it('splits a #! line as Linux does', () => {
  expect(parseInterpreterLine('#!/bin/sh\nx')).toEqual(['/bin/sh']);
  expect(parseInterpreterLine('#! /usr/bin/env python3 -u  \n')).toEqual(['/usr/bin/env', 'python3 -u']);
  expect(parseInterpreterLine('#!/bin/sh')).toEqual(['/bin/sh']);
  expect(parseInterpreterLine('# !/bin/sh\n')).toBeNull();
  expect(parseInterpreterLine('echo\n#!/bin/sh')).toBeNull();
});

it('leaves an argument vector as it is, and falls back to sh -e where there is no bash', async () => {
  const place = {
    files: node.host.files,
    directory: node.newAttempt().directory,
    label: 'run',
    path: '/nowhere',
  } as const;
  expect(await buildArgv(argv('a', 'b c'), place)).toEqual(['a', 'b c']);
  expect(await buildArgv(script('echo $1', 'x'), place)).toEqual(['sh', '-e', '-c', 'echo $1', 'sh', 'x']);
});

it('passes over what is in PATH and cannot be looked into', async () => {
  const { directory } = node.newAttempt();
  symlinkSync('endless', join(directory, 'endless'));
  const place = {
    files: node.host.files,
    directory,
    label: 'run',
    path: `${directory}/endless:/usr/bin:/bin`,
  } as const;
  expect((await buildArgv(script('true'), place))[0]).toMatch(/^\/(usr\/)?bin\/bash$/);
});

it('runs text that is too long for an argument from a file', async () => {
  const attempt = node.newAttempt();
  const end = await attempt.run(script(`: '${'x'.repeat(200_000)}'\necho "$1"; exit 4`, 'given'));
  expect(end).toMatchObject({ exit: { exitCode: 4 } });
  expect(attempt.text('run.out')).toBe('given\n');
});

describe('the line of a setup that failed [C17]', () => {
  const failing: [string, string, number | null][] = [
    ['the middle of three', 'echo a\nfalse\necho b', 2],
    ['a pipe', '\nfalse | cat', 2],
    ['a missing program', 'true\n\nno-such-program --x', 3],
    ['a call whose function fails', 'f() {\n  false\n}\ntrue\nf\n', 5],
    ['the sourcing of a file that fails', 'echo a\nsource ./part.sh\n', 2],
    ['a subshell', 'true\n(exit 3)\n', 2],
    ['no line for an explicit exit', 'if ! false; then\n  exit 3\nfi', null],
  ];
  it.each(failing)('is %s', async (_, text, line) => {
    const attempt = node.newAttempt();
    writeFileSync(join(attempt.workdir, 'part.sh'), 'true\nfalse\n');
    const end = await attempt.run(script(text), { label: 'setup' });
    expect(end).toMatchObject({ kind: 'ended', exit: { kind: 'exited' } });
    const failed = await readFailedLine(node.host.files, attempt.directory, script(text));
    expect(failed?.line ?? null).toBe(line);
    if (line !== null) expect(failed?.text).toBe(text.split('\n')[line - 1]);
  });

  it('changes nothing that the text can see', async () => {
    const text = 'set +e; false; set -e; echo "$- $? $#"; (trap "echo mine" ERR; false) || true; f() { true; }; f';
    const [plain, trapped] = [node.newAttempt(), node.newAttempt()];
    await plain.run(script(text));
    await trapped.run(script(text), { label: 'setup' });
    expect(trapped.text('setup.out')).toBe(plain.text('run.out'));
    expect(trapped.text('setup.err')).toBe(plain.text('run.err'));
    expect(await readFailedLine(node.host.files, trapped.directory, script(text))).toBeNull();
  });
});
