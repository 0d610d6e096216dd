import { type CommandDefinition, option } from './definition.ts';

/** Commands about which server one works with. */
export const contextCommands: readonly CommandDefinition[] = [
  {
    words: 'login',
    args: '<url>',
    summary: 'sign in to a server',
    details:
      'Shows the fingerprint of its certificate and asks; without a terminal --fingerprint says it, or a token that carries it.\nWithout a token one signs in at the issuer that the server names, on any device with a browser.',
    options: [
      option('--token-file <file>', 'a token; - is stdin (RUNYARD_TOKEN)'),
      option('--fingerprint <sha256>', 'of its certificate'),
      option('--name <name>', "of the context (default: the server's host)"),
    ],
    load: () => import('../commands/login.ts'),
  },
  {
    words: 'contexts',
    args: '',
    summary: 'servers that one is signed in to',
    options: [],
    load: () => import('../commands/contexts.ts'),
  },
  {
    words: 'contexts use',
    args: '<name>',
    summary: 'commands are about this one; "embedded" is this machine',
    options: [],
    load: async () => ({ execute: (await import('../commands/contexts.ts')).use }),
  },
  {
    words: 'contexts rm',
    args: '<name>',
    summary: 'forget a server and the token for it',
    options: [],
    load: async () => ({ execute: (await import('../commands/contexts.ts')).remove }),
  },
];
