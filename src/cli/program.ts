import { Command, CommanderError, Option } from 'commander';
import { nearestWord } from '../wire/nearest-word.ts';
import { commands, globalOptions } from './catalogue/catalogue.ts';
import type { CommandDefinition, OptionDefinition } from './catalogue/definition.ts';
import { habits, planned } from './catalogue/habits.ts';
import type { Invocation, Options } from './context.ts';
import { UsageError } from './usage-error.ts';

/** What was typed: a command to run, or text to print. */
export type Parsed =
  | { readonly kind: 'command'; readonly definition: CommandDefinition; readonly invocation: Invocation }
  | { readonly kind: 'text'; readonly text: string };

/** Reads the arguments after `yard`. Throws a UsageError. */
export async function parseArguments(argv: readonly string[], version: string): Promise<Parsed> {
  const split = argv.indexOf('--');
  const before = split < 0 ? argv : argv.slice(0, split);
  const rest = split < 0 ? null : argv.slice(split + 1);
  refuseHabits(before);
  let parsed: Parsed | null = null;
  let text = '';
  const program = createProgram(version, {
    found: (definition, args, options) => {
      parsed = { kind: 'command', definition, invocation: { args, options, rest } };
    },
    print: (part) => {
      text += part;
    },
  });
  try {
    await program.parseAsync([...before], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode !== 0 && error.code !== 'commander.help') throw misspeltOf(before) ?? usageOf(error, before);
    if (error.exitCode !== 0) refuseUnfinished(before);
  }
  return parsed ?? { kind: 'text', text: text === '' ? program.helpInformation() : text };
}

/** Of what begins commands and is none, `yard server`: which there are. `yard` alone gets its help. */
function refuseUnfinished(argv: readonly string[]): void {
  const typed = argv.filter((one) => !one.startsWith('-')).join(' ');
  const begun = commands.map(({ words }) => words).filter((words) => words.startsWith(`${typed} `));
  if (typed === '' || begun.length === 0) return;
  throw new UsageError(`yard ${typed} is no command by itself`, begun.map((words) => `yard ${words}`).join('\n'));
}

const attachedWords: ReadonlySet<string> = new Set(commands.filter((one) => one.attached).map(({ words }) => words));

/** Whether a command is meant whose exit code is its job's, as far as can be told of arguments that may not fit. */
export function meansAttached(argv: readonly string[]): boolean {
  const split = argv.indexOf('--');
  return argv.slice(0, split < 0 ? argv.length : split).some((word) => attachedWords.has(word));
}

interface Sinks {
  readonly found: (definition: CommandDefinition, args: readonly string[], options: Options) => void;
  readonly print: (text: string) => void;
}

function createProgram(version: string, sinks: Sinks): Command {
  const program = new Command('yard');
  program
    .description('One control plane for jobs that end and services that stay.')
    .version(version, '--version', 'the version')
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({ writeOut: sinks.print, writeErr: () => {} })
    .configureHelp({ subcommandTerm: termOf, optionDescription: (option) => option.description })
    .addHelpText('after', '\nyard COMMAND --help says more about one of them.');
  for (const definition of globalOptions) addOption(program, definition, false);
  for (const definition of commands) addCommand(program, definition, sinks);
  return program;
}

function addCommand(program: Command, definition: CommandDefinition, sinks: Sinks): void {
  const words = definition.words.split(' ');
  const name = words[words.length - 1] ?? '';
  const command = parentOf(program, words.slice(0, -1), definition.summary).command(
    `${name} ${definition.args}`.trim(),
  );
  command.summary(definition.summary).description([definition.summary, definition.details].filter(Boolean).join('\n'));
  if (definition.usage !== undefined) command.usage(definition.usage);
  command.allowExcessArguments(false).helpCommand(false);
  if (definition.passThrough === true) command.passThroughOptions();
  for (const one of definition.options) addOption(command, one, false);
  for (const one of globalOptions) addOption(command, one, true);
  command.action(() => {
    const options = { ...program.opts(), ...dropDefaults(command) };
    sinks.found(definition, command.args, options);
  });
}

/** `attach <id>`: what stands in the list of commands. */
function termOf(command: Command): string {
  const only = command.commands.length === 1 ? command.commands[0] : undefined;
  if (only !== undefined) return `${command.name()} ${only.name()}`;
  const args = command.registeredArguments.filter((argument) => argument.name() !== 'extra');
  const words = args.map((argument) => {
    const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...words].join(' ');
}

/** What stands for words that only begin commands. */
const groups: Readonly<Record<string, string>> = { rollout: 'pause, resume or undo a rollout' };

/** `nodes drain` hangs on `nodes`, `node start` on a `node` that does nothing by itself. */
function parentOf(program: Command, words: readonly string[], summary: string): Command {
  let parent = program;
  for (const word of words) {
    const known = parent.commands.find((one) => one.name() === word);
    parent =
      known ??
      parent
        .command(word)
        .summary(groups[word] ?? summary)
        .helpCommand(false);
  }
  return parent;
}

function addOption(command: Command, definition: OptionDefinition, hidden: boolean): void {
  const added = new Option(definition.flags, definition.description).hideHelp(hidden);
  if (definition.repeats === true) {
    added.argParser((value: string, before: readonly string[] | undefined) => [...(before ?? []), value]);
  }
  command.addOption(added);
}

/** Only what was typed: the default of `--no-color` must not hide the one that stood before the command. */
function dropDefaults(command: Command): Options {
  return Object.fromEntries(
    Object.entries(command.opts()).filter(([key]) => command.getOptionValueSource(key) !== 'default'),
  );
}

function refuseHabits(argv: readonly string[]): void {
  const word = argv.find((one) => !one.startsWith('-'));
  const ours = word === undefined ? undefined : habits[word];
  if (ours !== undefined && Object.hasOwn(habits, word ?? '')) {
    throw new UsageError(`there is no yard ${word}`, `our word is: ${ours}`);
  }
  if (word !== undefined && planned.has(word)) {
    throw new UsageError(`yard ${word} is planned, and does not exist yet`, 'yard --help lists the commands');
  }
  if (word === 'run' && argv.includes('-d'))
    throw new UsageError('there is no yard run -d', 'our word is: yard submit');
}

/** Of a second word that is none, `yard services restrat web`: commander takes it for an argument too many. */
function misspeltOf(argv: readonly string[]): UsageError | null {
  const [first = '', second = ''] = argv.filter((one) => !one.startsWith('-'));
  const begun = commands.map(({ words }) => words).filter((words) => words.startsWith(`${first} `));
  const seconds = [...new Set(begun.map((words) => words.split(' ')[1] ?? ''))];
  if (second === '' || begun.length === 0 || seconds.includes(second)) return null;
  const near = nearestWord(second, seconds);
  if (near === undefined) return null;
  return new UsageError(`there is no yard ${first} ${second}`, `did you mean yard ${first} ${near}?`);
}

/** Commander's message, without its prefix. */
function usageOf(error: CommanderError, argv: readonly string[]): UsageError {
  const [first = '', ...more] = error.message.replace(/^error: /, '').split('\n');
  const hint = more
    .join('\n')
    .trim()
    .replace(/^\(|\)$/g, '');
  const word = argv.find((one) => one === 'run' || one === 'submit');
  if (error.code === 'commander.unknownOption' && word !== undefined && hint === '') {
    return new UsageError(first, `what belongs to a command follows --: yard ${word} -- CMD…`);
  }
  return new UsageError(first, hint === '' ? helpFor(argv) : hint);
}

/** Where what was typed is explained: at the command, where one was named. */
function helpFor(argv: readonly string[]): string {
  const typed = `${argv.filter((one) => !one.startsWith('-')).join(' ')} `;
  const named = commands.map(({ words }) => words).filter((words) => typed.startsWith(`${words} `));
  const longest = named.sort((a, b) => b.length - a.length)[0];
  return longest === undefined ? 'yard --help lists the commands' : `yard ${longest} --help says more`;
}
