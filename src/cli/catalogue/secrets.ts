import { type CommandDefinition, option } from './definition.ts';

const placeOptions = [
  option('--project <name>', 'whose it is (default: default)'),
  option('--node-local', 'it stays on a node of this home; only its name is told'),
  option('--name <node>', "that node's name (default: the host's)"),
];

/** Commands about secrets. */
export const secretCommands: readonly CommandDefinition[] = [
  {
    words: 'secrets',
    args: '',
    summary: 'names of secrets and who can open them; never a value',
    options: [option('--project <name>', 'only of this project')],
    load: () => import('../commands/secrets.ts'),
  },
  {
    words: 'secrets set',
    args: '<name>',
    summary: 'a value from stdin or a file, sealed to the nodes',
    details:
      'At a terminal the value is asked for and not shown. It is never an argument: everybody on the machine could read it there.\nWhat runs keeps the value that it has; the next start takes the new one.',
    options: [option('--from-file <file>', 'the bytes of this file'), ...placeOptions],
    load: async () => ({ execute: (await import('../commands/secrets-change.ts')).set }),
  },
  {
    words: 'secrets rm',
    args: '<name>',
    summary: 'forget a secret; what runs keeps what it was given',
    options: placeOptions,
    load: async () => ({ execute: (await import('../commands/secrets-change.ts')).remove }),
  },
];
