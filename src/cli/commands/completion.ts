import { commands, globalOptions } from '../catalogue/catalogue.ts';
import type { OptionDefinition } from '../catalogue/definition.ts';
import type { Context, Invocation } from '../context.ts';
import { UsageError } from '../usage-error.ts';

const shells: Readonly<Record<string, () => string>> = { bash: forBash, zsh: forZsh, fish: forFish };

/** A completion script, made from the same list as the help. */
export async function execute(context: Context, { args }: Invocation): Promise<number> {
  const [shell = ''] = args;
  const write = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (write === undefined) {
    throw new UsageError(`no completion for ${JSON.stringify(shell)}`, 'there is one for bash, zsh and fish');
  }
  context.output.answer({ shell, script: write() }, write);
  return Promise.resolve(0);
}

function forBash(): string {
  const cases = commands.map(({ words, options }) => `    "${words}") words="${optionWords(options)}" ;;`);
  return `# eval "$(yard completion bash)"
_yard() {
  local current=\${COMP_WORDS[COMP_CWORD]} command words=""
  command="\${COMP_WORDS[1]}"
  case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in ${twoWordCommands()
    .map((words) => `"${words}"`)
    .join(' | ')}) command="\${COMP_WORDS[1]} \${COMP_WORDS[2]}" ;; esac
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${firstWords().join(' ')}" -- "$current")); return; fi
  case "$command" in
${cases.join('\n')}
  esac
${subcommandLines()}
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  case "$current" in -*) ;; *) COMPREPLY+=($(compgen -f -- "$current")) ;; esac
}
complete -o filenames -F _yard yard`;
}

function subcommandLines(): string {
  const parents = [...new Set(twoWordCommands().map((words) => words.split(' ')[0] ?? ''))];
  return parents
    .map(
      (parent) =>
        `  [ "$COMP_CWORD" -eq 2 ] && [ "\${COMP_WORDS[1]}" = "${parent}" ] && words="$words ${secondWords(parent).join(' ')}"`,
    )
    .join('\n');
}

function forZsh(): string {
  return `# eval "$(yard completion zsh)"
autoload -U +X bashcompinit && bashcompinit
${forBash()}`;
}

function forFish(): string {
  const lines = ['# yard completion fish | source'];
  for (const { words, summary, options } of commands) {
    const [first = '', second] = words.split(' ');
    const when = second === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}`;
    lines.push(`complete -c yard -n '${when}' -a '${second ?? first}' -d '${summary.replaceAll("'", '’')}'`);
    for (const { flags, description } of options) {
      lines.push(
        `complete -c yard -n '__fish_seen_subcommand_from ${second ?? first}' ${fishFlags(flags)} -d '${description.replaceAll("'", '’')}'`,
      );
    }
  }
  lines.push(`complete -c yard -n '__fish_use_subcommand' -a node -d 'the agent in the foreground: yard node start'`);
  return lines.join('\n');
}

function fishFlags(flags: string): string {
  const short = /(?:^|\s)-(\w)\b/.exec(flags)?.[1];
  const long = /--([a-z-]+)/.exec(flags)?.[1];
  return [short === undefined ? '' : `-s ${short}`, long === undefined ? '' : `-l ${long}`].filter(Boolean).join(' ');
}

function optionWords(options: readonly OptionDefinition[]): string {
  return [...options, ...globalOptions].flatMap(({ flags }) => flags.match(/--?[a-z][a-z-]*/g) ?? []).join(' ');
}

function firstWords(): readonly string[] {
  return [...new Set(commands.map(({ words }) => words.split(' ')[0] ?? ''))];
}

function twoWordCommands(): readonly string[] {
  return commands.map(({ words }) => words).filter((words) => words.includes(' '));
}

function secondWords(parent: string): readonly string[] {
  return twoWordCommands()
    .filter((words) => words.startsWith(`${parent} `))
    .map((words) => words.slice(parent.length + 1));
}
