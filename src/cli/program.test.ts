import { describe, expect, it } from 'vitest';
import { commands } from './catalogue/catalogue.ts';
import { habits } from './catalogue/habits.ts';
import { parseArguments } from './program.ts';
import { UsageError } from './usage-error.ts';

async function parse(line: string) {
  const parsed = await parseArguments(line.split(' ').filter(Boolean), '1.2.3');
  if (parsed.kind !== 'command') throw new Error(`${line} is no command`);
  return { words: parsed.definition.words, ...parsed.invocation };
}

async function usageOf(line: string): Promise<UsageError> {
  const error = await parseArguments(line.split(' '), '1.2.3').catch((reason: unknown) => reason);
  if (!(error instanceof UsageError)) throw new Error(`expected a UsageError for ${line}`);
  return error;
}

describe('the command line', () => {
  it('has exactly the commands that are due', async () => {
    const due =
      `run submit attach jobs logs wait stop retry outputs explain exec events apply services secrets profiles nodes up down
      login contexts projects usage tokens simulate doctor prune completion`.split(/\s+/);
    const help = await parseArguments(['--help'], '1.2.3');
    const listed =
      help.kind === 'text' ? [...help.text.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, word]) => word) : [];
    expect(listed.sort()).toEqual([...due, 'node', 'server'].sort());
    const words = commands.map((command) => command.words).sort();
    const ofServices = ['scale', 'restart', 'stop', 'rm', 'rollout pause', 'rollout resume', 'rollout undo'];
    const longer = [
      ...['secrets set', 'secrets rm', 'nodes drain', 'nodes resume', 'nodes rm', 'node start', 'server start'],
      ...['contexts use', 'contexts rm', 'tokens create', 'tokens rm'],
      ...['projects create', 'projects set', 'projects grant', 'projects revoke', 'projects rm'],
    ];
    expect(words).toEqual([...due, ...longer, ...ofServices.map((word) => `services ${word}`)].sort());
  });

  it('loads a module for every command', async () => {
    for (const command of commands) expect((await command.load()).execute).toBeTypeOf('function');
  });

  it('tells a file with arguments from a command', async () => {
    expect(await parse('run job.toml --gpus 2 -- --lr 0.1')).toMatchObject({
      args: ['job.toml'],
      options: { gpus: '2' },
      rest: ['--lr', '0.1'],
    });
    expect(await parse('run --gpus=8 -- python t.py --lr 0.1')).toMatchObject({
      args: [],
      options: { gpus: '8' },
      rest: ['python', 't.py', '--lr', '0.1'],
    });
    expect(await parse('run')).toMatchObject({ args: [], rest: null });
  });

  it('names the nearest second word, and leaves the name of a thing alone', async () => {
    const hints = async (line: string) => (await usageOf(line)).hint;
    expect(await hints('services restrat web')).toBe('did you mean yard services restart?');
    expect(await hints('nodes drian vm --reason x')).toBe('did you mean yard nodes drain?');
    expect(await hints('tokens creat --join')).toBe('did you mean yard tokens create?');
    expect(await hints('services web more')).toBe('yard services --help says more');
    expect(await hints('secrets a b')).toBe('yard secrets --help says more');
    for (const { words } of commands.filter(({ words }) => words.split(' ').length === 2)) {
      const [first = '', second = ''] = words.split(' ');
      expect(await hints(`${first} ${second}x --none-such`)).toBe(`did you mean yard ${words}?`);
    }
  });

  it('takes global options before and after the command', async () => {
    expect((await parse('--json --no-color jobs')).options).toMatchObject({ json: true, color: false });
    expect((await parse('jobs --json --home x')).options).toMatchObject({ json: true, home: 'x' });
  });

  it('collects options that repeat, in their order', async () => {
    const { options } = await parse('run --env A=1 --env B --no-workspace --set a=1 --set b=2');
    expect(options).toMatchObject({ env: ['A=1', 'B'], set: ['a=1', 'b=2'], workspace: false });
    expect((await parse('run')).options.workspace).toBeUndefined();
  });

  it('leaves the words of exec alone', async () => {
    expect(await parse('exec digits ls -la --color')).toMatchObject({ args: ['digits', 'ls', '-la', '--color'] });
  });

  it('finds commands of two and three words, and the one word that also stands alone', async () => {
    expect(await parse('nodes drain laptop --reason dust')).toMatchObject({ words: 'nodes drain', args: ['laptop'] });
    expect(await parse('nodes laptop')).toMatchObject({ words: 'nodes', args: ['laptop'] });
    expect(await parse('services scale llm 1 --remove llm-a --remove llm-b')).toMatchObject({
      words: 'services scale',
      args: ['llm', '1'],
      options: { remove: ['llm-a', 'llm-b'] },
    });
    expect(await parse('services rollout undo llm --to 3')).toMatchObject({
      words: 'services rollout undo',
      args: ['llm'],
      options: { to: '3' },
    });
    expect(await parse('node start --labels zone=a')).toMatchObject({
      words: 'node start',
      options: { labels: ['zone=a'] },
    });
  });

  it.each(Object.entries(habits))('answers yard %s with our word', async (habit, ours) => {
    const error = await usageOf(`${habit} something`);
    expect(`${error.message}; ${error.hint}`).toContain(`there is no yard ${habit}; our word is: ${ours}`);
  });

  it('answers run -d, unknown commands and unknown options', async () => {
    expect((await usageOf('run -d job.toml')).hint).toContain('yard submit');
    expect((await usageOf('frobnicate')).message).toContain('frobnicate');
    expect((await usageOf('jobz')).hint).toContain('jobs');
    expect((await usageOf('run python train.py --lr')).hint).toContain('yard run -- CMD…');
    expect((await usageOf('wait')).message).toContain('id');
    expect((await usageOf('wait')).hint).toBe('yard wait --help says more');
    expect((await usageOf('services scale')).hint).toBe('yard services scale --help says more');
    expect((await usageOf('backup')).message).toContain('planned');
    expect((await usageOf('server')).hint).toBe('yard server start');
    expect((await usageOf('services rollout')).hint).toMatch(/^yard services rollout pause\n.* resume\n.* undo$/);
  });

  it('knows its version', async () => {
    expect(await parseArguments(['--version'], '1.2.3')).toEqual({ kind: 'text', text: '1.2.3\n' });
  });
});
