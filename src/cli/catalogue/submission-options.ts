import { type OptionDefinition, option, repeated } from './definition.ts';

/** What may be added to a file on the command line. */
export const submissionOptions: readonly OptionDefinition[] = [
  option('--name <name>', 'another name'),
  option('--profile <name>', 'a named profile, below what the file says'),
  option('--gpus <n>', 'GPUs, or "all" of a node'),
  option('--gpu-type <type>', 'such as H100'),
  option('--cpus <n>', 'cores'),
  option('--memory <size>', 'such as 8GiB'),
  option('--nodes <n>', 'ranks, each on its own node'),
  option('--array <n>', 'run it N times, RUNYARD_INDEX 0 to N-1'),
  repeated('--label <k=v>', 'a label that the node must have'),
  repeated('--env <k=v>', "a variable; K alone takes this shell's value"),
  repeated('--env-file <file>', 'variables, one K=V a line'),
  repeated('--secret <k>', 'a variable from the secret of that name'),
  option('--workspace <dir>', 'the directory that travels with the job'),
  option('--no-workspace', 'nothing travels'),
  repeated('--exclude <pattern>', 'leave out of the workspace, as .gitignore would'),
  repeated('--output <path>', 'a file or directory to bring home'),
  option('--timeout <duration>', 'such as 2h'),
  option('--max-attempts <n>', 'how often to try'),
  option('--priority <n>', 'higher goes first'),
  option('--project <name>', 'whose it is'),
  repeated('--set <key=value>', 'any other key, dotted: retry.onExit=[75]'),
  option('--from <id>', 'the same spec and bytes as that job, with these changes'),
  option('--dry-run', 'show effective values and where it would go; submit nothing'),
];

export const landingOption: OptionDefinition = option('--to <dir>', 'where outputs land (default: outputs/<id>)');
