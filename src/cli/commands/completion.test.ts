import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { commands } from '../catalogue/catalogue.ts';
import type { Context } from '../context.ts';
import { chooseOutput } from '../output/choose.ts';
import { keepStreams } from '../output/fake-streams.testsuite.ts';
import { UsageError } from '../usage-error.ts';
import { execute } from './completion.ts';

async function scriptFor(shell: string): Promise<string> {
  const { streams, stdout } = keepStreams();
  const context = { output: chooseOutput(streams, { json: false, quiet: false }) } as Context;
  await execute(context, { args: [shell], options: {}, rest: null });
  return stdout();
}

type Complete = (script: string, words: readonly string[]) => readonly string[];

/** Where no file gets among what is offered. */
const cwd = '/proc/self/task';
/** Where zsh keeps what it knows of its own completions. */
const dumps = mkdtempSync(join(tmpdir(), 'yard-zsh-'));
afterAll(() => rmSync(dumps, { recursive: true }));

function linesOf(program: string, args: readonly string[]): readonly string[] {
  return execFileSync(program, args, { encoding: 'utf8', cwd, env: { ...process.env, ZDOTDIR: dumps } })
    .trim()
    .split('\n');
}

function callOf(words: readonly string[]): string {
  const typed = words.map((word) => `'${word}'`).join(' ');
  return `COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _yard; printf '%s\\n' "\${COMPREPLY[@]}"`;
}

/** What each shell offers for a line, by what the script defines. */
const shells: Readonly<Record<string, Complete>> = {
  bash: (script, words) => linesOf('bash', ['-c', `${script}\n${callOf(words)}`]),
  // As its bashcompinit calls functions of bash; what does not begin as what was typed is left out by zsh itself.
  zsh: (script, words) =>
    linesOf('zsh', ['-fc', `${script}\nemulate -L sh; setopt ksharrays\n${callOf(words)}`]).filter((word) =>
      word.startsWith(words.at(-1) ?? ''),
    ),
  fish: (script, words) =>
    linesOf('fish', ['--no-config', '-c', `${script}\ncomplete -C '${words.join(' ')}'`])
      .map((line) => line.split('\t')[0] ?? '')
      .filter((word) => !/^\d+\/$/.test(word)),
};

describe('completion', () => {
  it('knows every command in every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await scriptFor(shell);
      for (const { words } of commands) expect(script).toContain(words.split(' ').at(-1));
    }
  });

  for (const [shell, complete] of Object.entries(shells)) {
    const isThere = spawnSync(shell, ['--version']).status === 0;
    it.runIf(isThere)(`offers commands, their second words and their options in ${shell}`, async () => {
      const script = await scriptFor(shell);
      const offered = (...words: readonly string[]) => [...complete(script, ['yard', ...words])].sort();
      expect(offered('ex')).toEqual(['exec', 'explain']);
      expect(offered('no')).toEqual(['node', 'nodes']);
      expect(offered('nodes', 'dr')).toEqual(['drain']);
      expect(offered('nodes', 'drain', '--re')).toEqual(['--reason']);
      expect(offered('services', 'r')).toEqual(['restart', 'rm', 'rollout']);
      expect(offered('services', 'rollout', 'pa')).toEqual(['pause']);
      expect(offered('services', 'rollout', 'undo', '--t')).toEqual(['--to']);
      expect(offered('run', '--gpu')).toEqual(['--gpu-type', '--gpus']);
      expect(offered('secrets', 'set', 'hf', '--q')).toEqual(['--quiet']);
      expect(offered('run', '--', 'sh', '--n')).not.toContain('--name');
    });
  }

  it('says which shells there are', async () => {
    await expect(scriptFor('tcsh')).rejects.toThrow(UsageError);
  });
});
