import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
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

/** What bash would offer for a line, by the function that the script defines. */
function completeInBash(script: string, words: readonly string[]): readonly string[] {
  const line = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _yard; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', `${script}\n${line}`], { encoding: 'utf8', cwd: '/proc/self/task' })
    .trim()
    .split('\n');
}

describe('completion', () => {
  it('knows every command in every shell', async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const script = await scriptFor(shell);
      for (const { words } of commands) expect(script).toContain(words.split(' ').at(-1));
    }
  });

  it('offers commands, their second words and their options in bash', async () => {
    const script = await scriptFor('bash');
    expect(completeInBash(script, ['yard', 'ex'])).toEqual(['explain', 'exec']);
    expect(completeInBash(script, ['yard', 'nodes', 'dr'])).toEqual(['drain']);
    expect(completeInBash(script, ['yard', 'nodes', 'drain', '--re'])).toEqual(['--reason']);
    expect(completeInBash(script, ['yard', 'services', 'r'])).toEqual(['restart', 'rm', 'rollout']);
    expect(completeInBash(script, ['yard', 'services', 'rollout', 'pa'])).toEqual(['pause']);
    expect(completeInBash(script, ['yard', 'services', 'rollout', 'undo', '--t'])).toEqual(['--to']);
    expect(completeInBash(script, ['yard', 'run', '--gpu'])).toEqual(['--gpus', '--gpu-type']);
  });

  it('says which shells there are', async () => {
    await expect(scriptFor('tcsh')).rejects.toThrow(UsageError);
  });
});
