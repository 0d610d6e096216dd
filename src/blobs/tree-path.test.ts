import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leavesTree, relativeTarget } from './link-target.ts';
import { checkOutputPath, whyNotTreePath } from './tree-path.ts';

describe('output paths', () => {
  it.each([
    ['metrics.jsonl', 'metrics.jsonl'],
    ['./runs/', 'runs'],
    ['-rf', '-rf'],
    ['a b/ü', 'a b/ü'],
    ['..data', '..data'],
    ['a/...', 'a/...'],
  ])('takes %j as %j', (declared, path) => {
    expect(checkOutputPath(declared)).toEqual({ kind: 'inside', path });
  });

  it.each([
    '../x',
    'a/../x',
    'a/..',
    '..',
    '/etc/passwd',
    '',
    '.',
    './',
    '/',
    'a//b',
    'a/./b',
    'a\0b',
    'a\nb',
    'a\x7f',
  ])('refuses %j [R4.1] [R4.5]', (declared) => {
    expect(checkOutputPath(declared)).toMatchObject({ kind: 'refused', code: 'PATH_ESCAPE' });
  });

  it('never calls a path inside that a plain walk of its parts would leave', () => {
    const part = fc.constantFrom('a', 'b', '..', '.', '', '...');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        if (whyNotTreePath(parts.join('/')) !== null) return;
        expect(parts.every((each) => each !== '..' && each !== '')).toBe(true);
      }),
    );
  });
});

describe('link targets', () => {
  it('walks through other links as the kernel would', () => {
    const links: Record<string, string> = { 'a/deep': '../top', loop: 'loop', up: '.' };
    const linkAt = (path: string): string | null => links[path] ?? null;
    const leaves = (path: string, target: string): boolean => leavesTree({ path, target }, linkAt);
    expect(leaves('a/l', 'deep/..')).toBe(false);
    expect(leaves('a/l', 'deep/../..')).toBe(true);
    expect(leaves('l', 'up/up/up/a')).toBe(false);
    expect(leaves('l', 'up/..')).toBe(true);
    expect(leaves('l', 'loop/../..')).toBe(false);
    expect(leaves('x/y/l', '../../z')).toBe(false);
    expect(leaves('x/y/l', '../../../z')).toBe(true);
  });

  it('makes absolute targets inside relative, and leaves others alone', () => {
    const root = '/home/ada/ws';
    expect(relativeTarget({ path: 'a/b/l', target: '/home/ada/ws/c' }, root)).toBe('../../c');
    expect(relativeTarget({ path: 'l', target: '/home/ada/ws' }, root)).toBe('.');
    expect(relativeTarget({ path: 'l', target: '/home/ada/wsx' }, root)).toBe('/home/ada/wsx');
    expect(relativeTarget({ path: 'l', target: '../x' }, root)).toBe('../x');
  });
});
