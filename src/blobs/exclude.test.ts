import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { draw, filesOf, host, openPlace, temporaryFolder } from './temporary-place.testsuite.ts';
import { walkTree } from './walk.ts';

const name = fc.constantFrom('a', 'b', 'A', 'dataset', 'build', 'x.log', 'y.log', '!odd', '#odd', 'with space');
const folder = fc.array(fc.constantFrom('a', 'b', 'dataset', 'build', 'A'), { maxLength: 3 });
const piece = fc.constantFrom(
  'a',
  'b',
  'A',
  'dataset',
  'build',
  '*.log',
  '*',
  '?',
  '[ab]',
  'x.*',
  '**',
  'with\\ space',
  '\\!odd',
  '\\#odd',
  'da*t',
);
const pattern = fc
  .record({
    negated: fc.boolean(),
    anchored: fc.boolean(),
    parts: fc.array(piece, { minLength: 1, maxLength: 3 }),
    folderOnly: fc.boolean(),
    tail: fc.constantFrom('', '', '', ' ', '\\ '),
  })
  .map(({ negated, anchored, parts, folderOnly, tail }) => {
    return (negated ? '!' : '') + (anchored ? '/' : '') + parts.join('/') + (folderOnly ? '/' : '') + tail;
  });
const ignoreFile = fc.record({
  folder,
  text: fc.array(fc.oneof({ weight: 6, arbitrary: pattern }, fc.constantFrom('', '# remark')), {
    minLength: 1,
    maxLength: 4,
  }),
});
const tree = fc.record({
  files: fc.array(fc.tuple(folder, name), { minLength: 4, maxLength: 14 }),
  ignores: fc.array(ignoreFile, { minLength: 1, maxLength: 3 }),
});

/** A deeper file lets a folder in that a higher one keeps out; what lies inside is then judged afresh. */
const wicked: readonly { files: [string[], string][]; ignores: { folder: string[]; text: string[] }[] }[] = [
  ['build'],
  ['build/'],
  ['build', 'x.log'],
  ['a/build'],
  ['build/*'],
  ['**/build/**'],
].map((text) => ({
  files: [
    [['a', 'build'], 'x.log'],
    [['a', 'build'], 'build'],
    [['a', 'build', 'b', 'build'], 'y.log'],
    [['a', 'build', 'b'], 'x.log'],
    [['build'], 'x.log'],
  ],
  ignores: [
    { folder: [], text },
    { folder: ['a'], text: ['!build'] },
  ],
}));

describe('exclusion', () => {
  it('agrees with git on 250 random trees and some wicked ones [C24] [S4]', async () => {
    const repository = temporaryFolder();
    const git = (...args: string[]): string =>
      execFileSync('git', args, {
        cwd: repository,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: repository },
      });
    git('init', '-q');
    const trees = [...wicked, ...fc.sample(tree, { numRuns: 250, seed: 20260729 })];
    for (const [i, { files, ignores }] of trees.entries()) writeTree(join(repository, `t${i}`), files, ignores);
    const listed = git('ls-files', '-co', '--exclude-standard', '-z')
      .split('\0')
      .filter((path) => path !== '');
    const byTree = new Map<string, string[]>();
    for (const path of listed) {
      const [top = '', ...rest] = path.split('/');
      byTree.set(top, [...(byTree.get(top) ?? []), rest.join('/')]);
    }
    for (const [i, { ignores }] of trees.entries()) {
      const root = join(repository, `t${i}`);
      const walked = await walkTree({ root, rules: { exclude: [], landing: [] }, files: host.files });
      const ours = walked.files.map(({ path }) => path).sort();
      expect(ours, JSON.stringify({ i, ignores })).toEqual((byTree.get(`t${i}`) ?? []).sort());
    }
  });

  it('anchors a pattern with a slash, so that a nested folder of that name stays [C24]', async () => {
    const place = await openPlace({ '.gitignore': 'dataset/*\n', 'dataset/big': 'x', 'a/dataset/x': 'x' });
    expect(filesOf((await place.push()).manifest)).toEqual(['.gitignore', 'a/dataset/x']);
  });

  it('applies .yardignore and the job file as gitignore does, the job file strongest [S4]', async () => {
    const place = await openPlace({
      '.gitignore': '*.log\n',
      '.yardignore': '!keep.log\nnotes\n',
      'keep.log': '',
      'other.log': '',
      'notes/n': '',
      'artifacts/a': '',
      'deep/artifacts/a': '',
      'deep/.yardignore': 'secret\n',
      'deep/secret': '',
      secret: '',
    });
    const { manifest } = await place.push({ exclude: ['/artifacts', 'secret'] });
    expect(filesOf(manifest)).toEqual([
      '.gitignore',
      '.yardignore',
      'deep/.yardignore',
      'deep/artifacts/a',
      'keep.log',
    ]);
  });

  it('never takes .git, virtual environments, caches, landing folders and landings under way', async () => {
    const place = await openPlace({
      '.git/config': '',
      'sub/.git': 'gitdir: elsewhere',
      'sub/kept': '',
      '.venv/pyvenv.cfg': '',
      '.venv/bin/python': '',
      'cache/CACHEDIR.TAG': '',
      'cache/blob': '',
      'outputs/old/metrics': '',
      '.runyard-landing-00/new': '',
      'a/outputs/kept': '',
    });
    const { manifest } = await place.push({ landing: [join(place.workspace, 'outputs')] });
    expect(filesOf(manifest)).toEqual(['a/outputs/kept', 'sub/kept']);
  });
});

function writeTree(
  root: string,
  files: readonly (readonly [string[], string])[],
  ignores: readonly { folder: string[]; text: string[] }[],
): void {
  mkdirSync(root, { recursive: true });
  const folders = new Set(files.flatMap(([parts]) => parts.map((_, i) => parts.slice(0, i + 1).join('/'))));
  for (const [parts, file] of files) {
    const path = [...parts, file].join('/');
    // A name can be a folder in one path and a file in another: the folder wins.
    if (!folders.has(path)) draw(root, { [path]: '' });
  }
  for (const { folder: parts, text } of ignores) {
    const path = join(root, ...parts);
    if (parts.length > 0 && !folders.has(parts.join('/'))) continue;
    writeFileSync(join(path, '.gitignore'), text.join('\n'));
  }
}
