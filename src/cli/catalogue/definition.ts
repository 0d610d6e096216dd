import type { CommandModule } from '../context.ts';

/**
 * A command as data: what help, completion and the parser know of it. Its module is loaded when it runs; nothing here
 * may import the client, a schema or a table.
 */
export interface CommandDefinition {
  /** `nodes drain`: the words before its arguments. */
  readonly words: string;
  /** As commander writes them: `[file]`, `<id...>`. */
  readonly args: string;
  /** What stands behind `yard WORDS` in its help, where commander would not find it. */
  readonly usage?: string;
  readonly summary: string;
  readonly details?: string;
  readonly options: readonly OptionDefinition[];
  /** What follows the arguments is not ours to read, options included. */
  readonly passThrough?: boolean;
  /** Its exit code is the job's: a refusal is 125. */
  readonly attached?: boolean;
  load(): Promise<CommandModule>;
}

export interface OptionDefinition {
  /** `--gpus <n>`, `-f, --follow`. */
  readonly flags: string;
  readonly description: string;
  /** May be given several times. */
  readonly repeats?: boolean;
}

export function option(flags: string, description: string): OptionDefinition {
  return { flags, description };
}

export function repeated(flags: string, description: string): OptionDefinition {
  return { flags, description, repeats: true };
}
