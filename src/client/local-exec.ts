import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import type { ExecEnd, ExecOptions, ExecSession, ExecStreams } from './api.ts';
import type { Embedded } from './embedded.ts';
import { execPlan } from './exec-plan.ts';
import { hangUpOn } from './hang-up.ts';

/** Runs a command beside a task of this home. Without streams of its own it has this process's, terminal included. */
export async function runLocalExec(
  embedded: Embedded,
  reference: { id: string; part: number | null },
  { command, streams }: ExecOptions,
): Promise<ExecSession> {
  const plan = await execPlan(embedded, reference);
  const { SHELL, TERM } = process.env;
  const shell = plan.env.SHELL ?? SHELL ?? 'sh';
  const [program = shell, ...args] = command;
  const terminal = TERM === undefined ? {} : { TERM };
  const child = spawn(program, args, {
    cwd: plan.workdir,
    env: { ...terminal, ...plan.env, ...(await plan.openSecrets()) },
    stdio: streams === undefined ? 'inherit' : 'pipe',
  });
  if (streams !== undefined) connect(child, streams);
  return {
    node: plan.node,
    withoutTerminal: null,
    // The terminal tells the whole foreground group by itself.
    interrupt: () => void (streams === undefined || child.kill('SIGINT')),
    terminate: () => void child.kill('SIGTERM'),
    async hangUp() {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        await hangUpOn(embedded.host, child.pid);
    },
    ended: endOf(child, program),
  };
}

function connect(child: ChildProcess, { stdin, stdout, stderr }: ExecStreams): void {
  if (stdin === null) child.stdin?.end();
  else if (child.stdin !== null) stdin.pipe(child.stdin);
  // A command need not read what it is sent.
  child.stdin?.on('error', () => stdin?.unpipe());
  child.stdout?.pipe(stdout, { end: false });
  child.stderr?.pipe(stderr, { end: false });
}

function endOf(child: ChildProcess, program: string): Promise<ExecEnd> {
  return new Promise((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT')
        resolve({ exitCode: 127, signal: null, problem: `there is no ${program} on the PATH of the job` });
      else if (error.code === 'EACCES')
        resolve({ exitCode: 126, signal: null, problem: `${program} cannot be executed` });
      else reject(error);
    });
    child.on('close', (exitCode, signal) =>
      resolve({ exitCode, signal: signal === null ? null : constants.signals[signal], problem: null }),
    );
  });
}
