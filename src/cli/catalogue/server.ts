import { type CommandDefinition, option } from './definition.ts';

/** Commands about a server of one's own. */
export const serverCommands: readonly CommandDefinition[] = [
  {
    words: 'server start',
    args: '',
    summary: 'the control plane of this home over HTTPS, in the foreground',
    details:
      'Prints its address and the fingerprint of its certificate on stdout, one JSON line for each request on stderr.\nAt the first start it prints a token for an administrator on stderr; it stands in HOME/server/admin.token as well.',
    options: [
      option('--listen <address>', 'host and port (default: 0.0.0.0:7443)'),
      option('--store <url>', 'where the log is kept (default and only choice: sqlite, in the home)'),
      option('--tls-cert <file>', 'a certificate as PEM; without one the server makes its own'),
      option('--tls-key <file>', 'its key as PEM'),
      option('--public-url <url>', 'how clients reach it, where that is not its address'),
      option('--lease <duration>', 'a node silent for so long gets no new work (default: 30s)'),
      option('--grace <duration>', 'and is lost so much later (default: 90s)'),
      option('--oidc-issuer <url>', 'where people sign in'),
      option('--oidc-client-id <id>', 'as which the issuer knows this server'),
      option('--oidc-claim <name>', "the claim that becomes a user's name (default: email)"),
    ],
    load: () => import('../commands/server-start.ts'),
  },
];
