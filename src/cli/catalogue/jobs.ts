import { type CommandDefinition, option, repeated } from './definition.ts';
import { landingOption, submissionOptions } from './submission-options.ts';

/** Commands about jobs. */
export const jobCommands: readonly CommandDefinition[] = [
  {
    words: 'run',
    args: '[file] [extra...]',
    usage: '[file | -] [options] [-- CMD... | ARGS...]',
    summary: 'submit and attach: follow, bring outputs home, exit with its code',
    details:
      'FILE is ./job.toml unless given, - is stdin. After a FILE, what follows -- becomes "$@" of its run.\nyard run -- CMD… runs a command with the current directory as workspace.',
    options: [...submissionOptions, landingOption],
    attached: true,
    load: () => import('../commands/run.ts'),
  },
  {
    words: 'submit',
    args: '[file] [extra...]',
    usage: '[file | -] [options] [-- CMD... | ARGS...]',
    summary: 'submit and print the id',
    options: [...submissionOptions, landingOption],
    load: () => import('../commands/submit.ts'),
  },
  {
    words: 'attach',
    args: '<id>',
    summary: 'follow a job from where it is',
    options: [landingOption],
    attached: true,
    load: () => import('../commands/attach.ts'),
  },
  {
    words: 'jobs',
    args: '[id]',
    summary: 'list, or one in full',
    options: [
      option('--all', 'those that ended long ago too'),
      option('--mine', 'only my own'),
      option('--user <name>', 'only of this user'),
      option('--state <state>', 'PENDING, RUNNING, COMPLETED or FAILED'),
      option('--project <name>', 'only of this project'),
      option('-w, --watch', 'show again after every change'),
    ],
    load: () => import('../commands/jobs.ts'),
  },
  {
    words: 'logs',
    args: '<id...>',
    summary: 'the output of jobs, and of all replicas of services',
    options: [
      option('-f, --follow', 'go on until it ends'),
      option('--tail <n>', 'only the last lines of each'),
      option('--since <time>', 'only what is younger: 10m, or a date'),
      option('--step <step>', 'setup or run'),
      option('--attempt <n>', 'of an earlier attempt'),
      option('--timestamps', 'a time before each line'),
    ],
    load: () => import('../commands/logs.ts'),
  },
  {
    words: 'wait',
    args: '<id...>',
    summary: 'until they end; exit with the first code that is not zero',
    options: [],
    attached: true,
    load: () => import('../commands/wait.ts'),
  },
  {
    words: 'stop',
    args: '<id...>',
    summary: 'stop jobs: SIGTERM to everything of it, grace, SIGKILL',
    options: [option('--grace <duration>', 'another grace than the job has; 0s kills')],
    load: () => import('../commands/stop.ts'),
  },
  {
    words: 'retry',
    args: '<id>',
    summary: 'run an ended job again, as a new one; of one that waits for its lost node, the next attempt',
    options: [option('--failed', 'only the failed indices of an array')],
    load: () => import('../commands/retry.ts'),
  },
  {
    words: 'outputs',
    args: '<id> [path...]',
    summary: 'bring outputs home; of a live job what there is so far',
    options: [landingOption, option('--list', 'list them, bring nothing')],
    load: () => import('../commands/outputs.ts'),
  },
  {
    words: 'explain',
    args: '<id>',
    summary: 'why it waits or where a rollout is stuck, and where each value came from',
    options: [],
    load: () => import('../commands/explain.ts'),
  },
  {
    words: 'exec',
    args: '<id> [cmd...]',
    summary: 'run a command beside a job; a shell unless told otherwise',
    options: [],
    passThrough: true,
    load: () => import('../commands/exec.ts'),
  },
  {
    words: 'events',
    args: '[id]',
    summary: 'everything that happened, oldest first',
    options: [option('-f, --follow', 'go on'), option('--audit', 'who did what, and what was refused to whom')],
    load: () => import('../commands/events.ts'),
  },
  {
    words: 'profiles',
    args: '[name]',
    summary: 'named profiles',
    options: [],
    load: () => import('../commands/profiles.ts'),
  },
];

export const nodeOptions = [
  option('--name <name>', "the node's name (default: the host's)"),
  repeated('--labels <k=v>', 'labels that jobs may ask for'),
  option('--cpus <n>', 'offer so many cores'),
  option('--memory <size>', 'offer so much memory'),
  option('--gpus <n>', 'offer so many GPUs'),
  option('--advertise <address>', 'where others reach this node'),
  option('--token-file <file>', 'a join token: the node joins the server that --server names'),
];
