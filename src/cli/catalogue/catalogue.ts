import { accessCommands } from './access.ts';
import { contextCommands } from './contexts.ts';
import type { CommandDefinition, OptionDefinition } from './definition.ts';
import { option } from './definition.ts';
import { jobCommands } from './jobs.ts';
import { nodeCommands } from './nodes.ts';
import { secretCommands } from './secrets.ts';
import { serverCommands } from './server.ts';
import { serviceCommands } from './services.ts';

/** Every command there is. Help, completion and the reference read this list. */
export const commands: readonly CommandDefinition[] = [
  ...jobCommands,
  ...serviceCommands,
  ...secretCommands,
  ...accessCommands,
  ...nodeCommands,
  ...serverCommands,
  ...contextCommands,
];

/** Taken before and after the command. */
export const globalOptions: readonly OptionDefinition[] = [
  option('--home <dir>', 'where everything is kept (RUNYARD_HOME, default ~/.runyard)'),
  option('--server <url>', 'a server instead of this home (RUNYARD_SERVER, with RUNYARD_TOKEN)'),
  option('--context <name>', 'a server that yard login knows, or "embedded"'),
  option('--json', 'one document, or one object a line where it streams'),
  option('--quiet', 'the answer and errors, nothing else'),
  option('--no-color', 'no colour (NO_COLOR does the same)'),
];
