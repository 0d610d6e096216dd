import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { Context, Invocation } from '../context.ts';

/** Runs a command beside a job, in its directory and with its environment; a shell unless told otherwise. */
export async function execute(context: Context, { args, rest }: Invocation): Promise<number> {
  const [reference = '', ...words] = args;
  const client = await context.client();
  const plan = await (await client.jobs.get(reference)).execPlan();
  const secrets = await plan.openSecrets();
  await client.close();
  const command = [...words, ...(rest ?? [])];
  const shell = plan.env.SHELL ?? context.env.SHELL ?? 'sh';
  const [program = shell, ...more] = command.length === 0 ? [shell] : command;
  const terminal = context.env.TERM === undefined || plan.env.TERM !== undefined ? {} : { TERM: context.env.TERM };
  return runInherited({ program, args: more, cwd: plan.workdir, env: { ...terminal, ...plan.env, ...secrets }, context });
}

interface Order {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly context: Context;
}

/** Hands the terminal over. Ctrl-C is the command's: it reaches the whole foreground group by itself. */
function runInherited({ program, args, cwd, env, context }: Order): Promise<number> {
  return new Promise((resolve, reject) => {
    const release = context.onSignal('SIGINT', () => {});
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: 'inherit' });
    const relay = context.onSignal('SIGTERM', () => child.kill('SIGTERM'));
    const done = (code: number): void => {
      release();
      relay();
      resolve(code);
    };
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT' && error.code !== 'EACCES') return reject(error);
      const message =
        error.code === 'ENOENT' ? `there is no ${program} on the PATH of the job` : `${program} cannot be executed`;
      context.output.error({ code: 'BAD_VALUE', message, hint: null, path: null, excerpt: null });
      done(error.code === 'ENOENT' ? 127 : 126);
    });
    child.on('exit', (code, signal) => done(signal === null ? (code ?? 1) : 128 + constants.signals[signal]));
  });
}
