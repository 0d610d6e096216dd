import { type CommandDefinition, option } from './definition.ts';
import { nodeOptions } from './jobs.ts';

/** Commands about nodes and this installation. */
export const nodeCommands: readonly CommandDefinition[] = [
  {
    words: 'nodes',
    args: '[id]',
    summary: 'list, or one in full',
    options: [],
    load: () => import('../commands/nodes.ts'),
  },
  {
    words: 'nodes drain',
    args: '<id>',
    summary: 'no new work for it; what runs goes on, until a deadline if there is one',
    options: [
      option('--reason <text>', 'why'),
      option('--deadline <duration>', 'move services elsewhere now, and stop what is left by then'),
    ],
    load: () => import('../commands/nodes-drain.ts'),
  },
  {
    words: 'nodes resume',
    args: '<id>',
    summary: 'new work again',
    options: [],
    load: () => import('../commands/nodes-resume.ts'),
  },
  {
    words: 'nodes rm',
    args: '<id>',
    summary: 'forget a node that is gone; of a silent one, say that it is lost',
    options: [],
    load: () => import('../commands/nodes-rm.ts'),
  },
  {
    words: 'node start',
    args: '',
    summary: 'the agent, in the foreground',
    options: nodeOptions,
    load: () => import('../commands/node-start.ts'),
  },
  {
    words: 'up',
    args: '',
    summary: 'the agent, in the background',
    options: [...nodeOptions, option('--boot', 'a systemd unit instead, started at boot')],
    load: () => import('../commands/up.ts'),
  },
  {
    words: 'down',
    args: '',
    summary: 'end the agent of yard up',
    options: [
      option('--name <name>', "the node's name (default: the host's)"),
      option('--drain', 'wait for what runs'),
      option('--stop', 'stop what runs'),
      option('--keep', 'what runs goes on; the next agent adopts it'),
      option('--boot', 'remove the systemd unit'),
    ],
    load: () => import('../commands/down.ts'),
  },
  {
    words: 'simulate',
    args: '[file]',
    usage: '[FILE | -] [options]',
    summary: 'what a workload would do on a cluster, hour by hour',
    details:
      'FILE has [[nodes]] and [[jobs]]; without [[nodes]] the nodes here are taken.\nNothing is started: the same code decides, in virtual time.',
    options: [
      option('--cluster <file>', 'the [[nodes]] of this file instead'),
      option('--history', 'what this control plane has done, once more'),
      option('--since <time>', 'of the history, only what is younger: 7d, or a date'),
      option('--until <time>', 'end there: 7d after the start, or a date'),
      option('--seed <n>', 'other draws of what is drawn (default: 1)'),
      option('--svg <file>', 'draw a picture of it'),
      option('--jobs <file>', 'write when each job starts and ends, an object a line'),
    ],
    load: () => import('../commands/simulate.ts'),
  },
  {
    words: 'doctor',
    args: '',
    summary: 'look for what is wrong here',
    options: [],
    load: () => import('../commands/doctor.ts'),
  },
  {
    words: 'prune',
    args: '',
    summary: 'forget old jobs, and the bytes that nothing names',
    options: [option('--older-than <duration>', 'ended at least so long ago (default: 7d)')],
    load: () => import('../commands/prune.ts'),
  },
  {
    words: 'completion',
    args: '<shell>',
    summary: 'completion for bash, zsh or fish',
    options: [],
    load: () => import('../commands/completion.ts'),
  },
];
