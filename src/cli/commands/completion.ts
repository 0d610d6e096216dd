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
  const longest = Math.max(...commands.map(({ words }) => words.split(' ').length));
  return `# eval "$(yard completion bash)"
_yard() {
  local current=\${COMP_WORDS[COMP_CWORD]} command words="" length typed
  command="\${COMP_WORDS[1]}"
  for length in $(seq 2 ${longest}); do
    typed="\${COMP_WORDS[*]:1:$length}"
    case "$typed" in ${longerCommands()
      .map((words) => `"${words}"`)
      .join(' | ')}) command="$typed" ;; esac
  done
  case " \${COMP_WORDS[*]:1:$((COMP_CWORD - 1))} " in *" -- "*) COMPREPLY=($(compgen -f -- "$current")); return ;; esac
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${wordsAfter('').join(' ')}" -- "$current")); return; fi
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
  return parents()
    .map((parent) => {
      const at = parent.split(' ').length + 1;
      const typed = `"\${COMP_WORDS[*]:1:${at - 1}}"`;
      return `  [ "$COMP_CWORD" -eq ${at} ] && [ ${typed} = "${parent}" ] && words="$words ${wordsAfter(parent).join(' ')}"`;
    })
    .join('\n');
}

function forZsh(): string {
  return `# eval "$(yard completion zsh)"
(( $+functions[compdef] )) || { autoload -U +X compinit && compinit; }
autoload -U +X bashcompinit && bashcompinit
${forBash()}`;
}

function forFish(): string {
  const known = [...new Set([...commands.map(({ words }) => words), ...parents()])];
  const lines = [
    '# yard completion fish | source',
    `set -g __yard_commands ${known.map((words) => `'${words}'`).join(' ')}`,
    fishFunctions,
    ...known.map((words) => {
      const parts = words.split(' ');
      const summary = commands.find((one) => one.words === words)?.summary ?? wordsAfter(words).join(', ');
      return fishLine(`__yard_at '${parts.slice(0, -1).join(' ')}'`, `-a '${parts.at(-1)}'`, summary);
    }),
    ...commands.flatMap(({ words, options }) =>
      options.map(({ flags, description }) => fishLine(`__yard_is '${words}'`, fishFlags(flags), description)),
    ),
    ...globalOptions.map(({ flags, description }) => fishLine('true', fishFlags(flags), description)),
  ];
  return lines.join('\n');
}

/** The longest command that the words typed so far begin with, and whether they are just these. */
const fishFunctions = `function __yard_words
    string match -v -- '-*' (commandline -opc)[2..-1]
end
function __yard_at
    test (string join ' ' -- '' (__yard_words)) = (string join ' ' -- '' (string split -n ' ' -- $argv[1]))
end
function __yard_is
    set -l words (__yard_words)
    for length in 3 2 1
        set -l typed (string join ' ' -- $words[1..$length])
        if contains -- "$typed" $__yard_commands
            test "$typed" = "$argv[1]"
            return
        end
    end
    return 1
end`;

function fishLine(condition: string, what: string, description: string): string {
  return `complete -c yard -n "${condition}" ${what} -d '${description.replaceAll("'", '’')}'`;
}

function fishFlags(flags: string): string {
  const short = /(?:^|\s)-(\w)\b/.exec(flags)?.[1];
  const long = /--([a-z-]+)/.exec(flags)?.[1];
  const value = flags.includes('<') ? '-r' : '';
  const names = [short === undefined ? '' : `-s ${short}`, long === undefined ? '' : `-l ${long}`];
  return [...names, value].filter(Boolean).join(' ');
}

function optionWords(options: readonly OptionDefinition[]): string {
  return [...options, ...globalOptions].flatMap(({ flags }) => flags.match(/--?[a-z][a-z-]*/g) ?? []).join(' ');
}

/** What may follow these words: commands, and the words before longer ones. */
function wordsAfter(parent: string): readonly string[] {
  const start = parent === '' ? '' : `${parent} `;
  const below = commands.map(({ words }) => words).filter((words) => words.startsWith(start));
  return [...new Set(below.map((words) => words.slice(start.length).split(' ')[0] ?? ''))];
}

/** Commands of more than one word. */
function longerCommands(): readonly string[] {
  return commands.map(({ words }) => words).filter((words) => words.includes(' '));
}

/** Words that others may follow: `nodes`, `services`, `services rollout`. */
function parents(): readonly string[] {
  return [
    ...new Set(
      longerCommands().flatMap((words) => {
        const parts = words.split(' ');
        return parts.slice(1).map((_, length) => parts.slice(0, length + 1).join(' '));
      }),
    ),
  ];
}
