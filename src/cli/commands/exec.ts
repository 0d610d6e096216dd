import type { Context, Invocation } from '../context.ts';

/** Runs a command beside a job, in its directory and with its environment; a shell unless told otherwise. */
export async function execute(context: Context, { args, rest }: Invocation): Promise<number> {
  const [reference = '', ...words] = args;
  const client = await context.client();
  const job = await client.jobs.get(reference);
  const session = await job.exec({ command: [...words, ...(rest ?? [])] });
  if (session.withoutTerminal !== null) context.output.note(session.withoutTerminal);
  const releases = [
    context.onSignal('SIGINT', () => session.interrupt()),
    context.onSignal('SIGTERM', () => session.terminate()),
  ];
  try {
    const { exitCode, signal, problem } = await session.ended;
    if (problem !== null) {
      context.output.error({ code: 'BAD_VALUE', message: problem, hint: null, path: null, excerpt: null });
    }
    return signal === null ? (exitCode ?? 1) : 128 + signal;
  } finally {
    for (const release of releases) release();
  }
}
