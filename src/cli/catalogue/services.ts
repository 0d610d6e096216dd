import { type CommandDefinition, option, repeated } from './definition.ts';

/** Commands about services and profiles. */
export const serviceCommands: readonly CommandDefinition[] = [
  {
    words: 'apply',
    args: '<file...>',
    summary: 'make it so: services and profiles; follow to the end',
    details:
      'Files are applied in order; what is as it should be already is "unchanged".\nExit 0 once every replica is up to date and ready, 1 with the reason when the rollout fails.',
    options: [option('--detach', 'do not wait for it'), option('--project <name>', 'whose the services are')],
    load: () => import('../commands/apply.ts'),
  },
  {
    words: 'services',
    args: '[name]',
    summary: 'list, or one in full',
    options: [option('-w, --watch', 'show again after every change')],
    load: () => import('../commands/services.ts'),
  },
  {
    words: 'services scale',
    args: '<name> <n>',
    summary: 'another number of replicas',
    options: [repeated('--remove <id>', 'this replica goes first')],
    load: async () => ({ execute: (await import('../commands/services-change.ts')).scale }),
  },
  {
    words: 'services restart',
    args: '<name>',
    summary: 'replace every replica, as a rollout does',
    options: [],
    load: async () => ({ execute: (await import('../commands/services-change.ts')).restart }),
  },
  {
    words: 'services stop',
    args: '<name>',
    summary: 'end every replica; applying its file starts it again',
    options: [],
    load: async () => ({ execute: (await import('../commands/services-change.ts')).stop }),
  },
  {
    words: 'services rm',
    args: '<name>',
    summary: 'end every replica and forget the service',
    options: [],
    load: async () => ({ execute: (await import('../commands/services-change.ts')).remove }),
  },
  {
    words: 'services rollout pause',
    args: '<name>',
    summary: 'go no further for now',
    options: [],
    load: async () => ({ execute: (await import('../commands/services-rollout.ts')).pause }),
  },
  {
    words: 'services rollout resume',
    args: '<name>',
    summary: 'go on with what was paused or has failed',
    options: [],
    load: async () => ({ execute: (await import('../commands/services-rollout.ts')).resume }),
  },
  {
    words: 'services rollout undo',
    args: '<name>',
    summary: 'back to the revision before',
    options: [option('--to <revision>', 'back to this one')],
    load: async () => ({ execute: (await import('../commands/services-rollout.ts')).undo }),
  },
];
