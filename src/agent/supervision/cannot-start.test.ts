import { describe, expect, it } from 'vitest';
import { readLastWords } from './cannot-start.ts';

describe('the last words of a command that exited with 126 or 127', () => {
  it.each([
    ['serve: No such file or directory', ['serve', '--port', '1'], 'serve: No such file or directory'],
    ["env: 'serve': No such file or directory", ['serve'], 'serve: No such file or directory'],
    ['env: ‘./a.b’: Permission denied', ['./a.b'], './a.b: Permission denied'],
    ['/bin/echo: Argument list too long', ['/bin/echo'], '/bin/echo: Argument list too long'],
    ['bash: line 1: serve: command not found', 'serve --port $PORT', 'serve: command not found'],
    ['bash: line 7: ./serve: Permission denied', 'cd x\n./serve', './serve: Permission denied'],
    ['sh: 1: serve: not found', 'serve', 'serve: not found'],
    ['bash: line 1: exec: serve: not found', 'exec serve', 'serve: not found'],
    ['/n/attempts/a/run.script: line 2: serve: command not found', '#!/bin/bash\nserve', 'serve: command not found'],
  ])('name the program: %s', (line, script, expected) => {
    expect(readLastWords(line, script)).toBe(expected);
  });

  it.each([
    ['model weights: not found', 'serve'],
    ['config.toml: No such file or directory', ['serve']],
    ['', 'serve'],
    ['', ['serve']],
  ])('say nothing when a program that did start chose that code: "%s"', (line, script) => {
    expect(readLastWords(line, script)).toBeNull();
  });
});
