import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { longFiles, longFunctions } from './house-exceptions.ts';

/** The rules of the house that neither the compiler nor the linter keeps. CONTRIBUTING.md says what they are for. */

const root = fileURLToPath(new URL('..', import.meta.url));
const lookAgainLines = 300;

const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' })
  .split('\0')
  .filter((file) => file !== '' && readOrNull(file) !== null);
const code = tracked.filter((file) => /\.(?:ts|mjs)$/.test(file) && !file.endsWith('.d.ts'));
const product = code.filter((file) => file.startsWith('src/') && !/\.(?:test|testsuite)\.ts$/.test(file));

describe('the rules of the house', () => {
  it('looks again at files of 300 lines', () => {
    const long = [...product, ...code.filter((file) => /^(?:scripts|bench)\//.test(file))].filter(
      (file) => read(file).trimEnd().split('\n').length > lookAgainLines,
    );
    expect(long.sort()).toEqual(longFiles.map(({ file }) => file).sort());
  });

  it('keeps every function within a screen of 70 lines', () => {
    expect(findLongFunctions().sort()).toEqual(longFunctions.map((one) => `${one.file} ${one.function}`).sort());
  });

  it('gives every exception a reason', () => {
    expect([...longFiles, ...longFunctions].filter(({ reason }) => reason.length < 20)).toEqual([]);
  });

  it('lets only the real host, the client, the server and the CLI reach the outside through node:', () => {
    const allowed = /^src\/(?:host\/node|client|server|cli)\//;
    expect(linesWith(/(?:from|import|import\()\s*['"]node:/, product).filter((line) => !allowed.test(line))).toEqual(
      [],
    );
  });

  it('takes time and chance as arguments everywhere but in the real host and the CLI', () => {
    const allowed = /^src\/(?:host\/node|cli)\//;
    const ambient = /\bDate\.now\b|\bnew Date\(\)|\bMath\.random\b|\bperformance\.now\b|\bprocess\.hrtime\b/;
    expect(linesWith(ambient, product).filter((line) => !allowed.test(line))).toEqual([]);
  });

  it('builds no regular expression from what a user writes: nothing takes one, and texts are compared as they are [R4.21]', () => {
    // The program that could not start is looked for in what the shell said; its name is escaped there.
    const escaped = 'src/agent/supervision/cannot-start.ts';
    const built = linesWith(/\bRegExp\(|\.(?:match|matchAll|search)\((?!\/)/, product);
    expect(built.filter((line) => !line.startsWith(escaped))).toEqual([]);
  });

  it('lands nothing that is left for later', () => {
    // Written in halves, so that this file passes its own rule.
    const later = new RegExp(`\\b(?:${'TO'}DO|${'FIX'}ME|${'HA'}CK|${'X'}XX)\\b`);
    expect(linesWith(later, tracked.filter(isText))).toEqual([]);
  });

  it('leaves no test switched off or on alone', () => {
    const tests = code.filter((file) => /\.(?:test|testsuite)\.ts$/.test(file));
    expect(linesWith(/\b(?:it|test|describe)\.(?:only|todo)\(/, tests)).toEqual([]);
  });

  it('names files in kebab-case', () => {
    const kebab = /^\.?[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
    const loud = /^(?:[A-Z]+\.md|LICENSE)$/;
    expect(tracked.filter((file) => !kebab.test(basename(file)) && !loud.test(basename(file)))).toEqual([]);
  });

  it('gives every lint exemption a reason', () => {
    const biome = linesWith(/biome-ignore/, code).filter((line) => !/biome-ignore(?:-\w+)? [\w/]+: \S.{9,}/.test(line));
    const oxlint = linesWith(/(?:oxlint|eslint)-disable/, code).filter((line) => !/-disable.* -- \S.{9,}/.test(line));
    const types = linesWith(/@ts-(?:ignore|expect-error|nocheck)/, code);
    const own = `test/${basename(fileURLToPath(import.meta.url))}`;
    expect([...biome, ...oxlint, ...types].filter((line) => !line.startsWith(own))).toEqual([]);
  });

  it('stands alone: no path of one machine and no registry host in any file', () => {
    const machine = new RegExp(`(?:^|[\\s"'\`(=:])/(?:root|Users)/|${literal(root)}|${literal(homedir())}/`);
    const registry = new RegExp(
      `registry\\.(?:${'npm'}js|yarnpkg)|\\b${'npm'}js\\.(?:org|com)|\\b${'py'}pi\\.org|${'python'}hosted`,
    );
    expect([...linesWith(machine, tracked.filter(isText)), ...linesWith(registry, tracked.filter(isText))]).toEqual([]);
  });

  it('lists in docs/reference exactly the codes, reasons, facts, steps and settings of the sources', () => {
    const checked = spawnSync(process.execPath, ['scripts/docs.mjs', '--check'], { cwd: root, encoding: 'utf8' });
    expect(`${checked.stdout}${checked.stderr}`).toBe('');
    expect(checked.status).toBe(0);
  });

  it('can plant every deliberate fault, and says of each in docs/simulator.md at which seed it is found', () => {
    const listed = spawnSync(process.execPath, ['scripts/sim.mjs', '--mutations', '--list'], {
      cwd: root,
      encoding: 'utf8',
    });
    expect(listed.stderr).toBe('');
    const rows = read('docs/simulator.md').matchAll(/^\| ([^|]+) \| \d+[^|]*\|$/gm);
    expect([...rows].map(([, name]) => name)).toEqual(listed.stdout.trim().split('\n'));
  });
});

/** `file function` of each function above the limit, as the linter counts them. */
function findLongFunctions(): string[] {
  const checked = spawnSync(
    process.execPath,
    ['node_modules/oxlint/bin/oxlint', '-c', 'test/house-rules.oxlintrc.json', '-f', 'json', 'src', 'scripts', 'bench'],
    { cwd: root, encoding: 'utf8' },
  );
  const { diagnostics } = JSON.parse(checked.stdout) as { diagnostics: { message: string; filename: string }[] };
  return diagnostics
    .filter(({ filename }) => tracked.includes(filename) && !/\.(?:test|testsuite)\.ts$/.test(filename))
    .map(({ message, filename }) => `${filename} ${/`([^`]+)`/.exec(message)?.[1] ?? '(without a name)'}`);
}

/** `file:line text` of every line that matches. */
function linesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.flatMap((file) =>
    read(file)
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${file}:${index + 1} ${line.trim().slice(0, 120)}`] : [])),
  );
}

function isText(file: string): boolean {
  return !/\.(?:png|svg|gif|ico|gz)$/.test(file) && file !== 'LICENSE';
}

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function readOrNull(file: string): string | null {
  try {
    return read(file);
  } catch {
    return null;
  }
}

function literal(text: string): string {
  return text.replace(/\/$/, '').replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
