import { type CommandDefinition, option } from './definition.ts';

const quotaOption = option('--quota <limits>', 'replicas=8,gpus=16,cores=64,queued=1000; none lifts a limit');
const everyoneOption = option(
  '--everyone <role>',
  'of users who are no members: viewer, member, operator, admin, none',
);

/** Commands about who may do what, and how much of it. */
export const accessCommands: readonly CommandDefinition[] = [
  {
    words: 'projects',
    args: '[name]',
    summary: 'list, or one in full: its quota, what is used, who is in it',
    options: [],
    load: () => import('../commands/projects.ts'),
  },
  {
    words: 'projects create',
    args: '<name>',
    summary: 'a new project, with nobody in it',
    options: [quotaOption],
    load: async () => ({ execute: (await import('../commands/projects-change.ts')).create }),
  },
  {
    words: 'projects set',
    args: '<name>',
    summary: 'another quota, or another role for everyone',
    details: 'What is not named stays as it is. What runs goes on, whatever the quota.',
    options: [quotaOption, everyoneOption],
    load: async () => ({ execute: (await import('../commands/projects-change.ts')).set }),
  },
  {
    words: 'projects grant',
    args: '<name> <user> <role>',
    summary: 'a role in it: viewer, member, operator or admin',
    details:
      'A viewer reads. A member submits and applies, and changes what is their own. An operator changes what is of others too.\nAn admin gives roles.',
    options: [],
    load: async () => ({ execute: (await import('../commands/projects-change.ts')).grant }),
  },
  {
    words: 'projects revoke',
    args: '<name> <user>',
    summary: 'no role of their own any more',
    options: [],
    load: async () => ({ execute: (await import('../commands/projects-change.ts')).revoke }),
  },
  {
    words: 'projects rm',
    args: '<name>',
    summary: 'delete a project of which nothing runs',
    options: [],
    load: async () => ({ execute: (await import('../commands/projects-change.ts')).remove }),
  },
  {
    words: 'usage',
    args: '',
    summary: 'GPU and core time by project, user or day',
    details:
      'Of this month, unless told otherwise. A task is charged from its placement until its attempt ends; what runs counts until now.\nDays are whole and in UTC: a date stands for all of its day, and those of --from and --to count. 400 days are kept.',
    options: [
      option('--from <date>', 'the first day, such as 2026-11-01 (default: the first of the month)'),
      option('--to <date>', 'the last day (default: today)'),
      option('--by <what>', 'a row for each project, user or day (default: project)'),
      option('--project <name>', 'of this project only'),
    ],
    load: () => import('../commands/usage.ts'),
  },
  {
    words: 'tokens',
    args: '',
    summary: 'your own; all of them for an administrator',
    options: [],
    load: () => import('../commands/tokens.ts'),
  },
  {
    words: 'tokens create',
    args: '',
    summary: 'let a user in, or with --join one node; shown once',
    options: [
      option('--user <name>', 'for somebody else'),
      option('--project <name>', 'good for this project only'),
      option('--admin', 'may do everything'),
      option('--join', 'for a node to join with, once'),
      option('--node <name>', 'for this node only, which may be known: its key is replaced'),
      option('--expires <duration>', 'how long it lasts, such as 30d (default: for ever; with --join 1h)'),
    ],
    load: async () => ({ execute: (await import('../commands/tokens-change.ts')).create }),
  },
  {
    words: 'tokens rm',
    args: '<id>',
    summary: 'it lets nobody in any more',
    options: [],
    load: async () => ({ execute: (await import('../commands/tokens-change.ts')).remove }),
  },
];
