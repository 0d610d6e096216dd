import type { ExecSession } from '../../client/api.ts';
import type { Context, Invocation } from '../context.ts';

/** Runs a command beside a job, in its directory and with its environment; a shell unless told otherwise. */
export async function execute(context: Context, { args, rest }: Invocation): Promise<number> {
  const [reference = '', ...words] = args;
  const client = await context.client();
  const job = await client.jobs.get(reference);
  const session = await job.exec({ command: [...words, ...(rest ?? [])] });
  if (session.withoutTerminal !== null) context.output.note(session.withoutTerminal);
  const signals = passOnSignals(context, session);
  try {
    const { exitCode, signal, problem } = await session.ended;
    if (problem !== null) {
      context.output.error({ code: 'BAD_VALUE', message: problem, hint: null, path: null, excerpt: null });
    }
    await signals.hungUp();
    return signal === null ? (exitCode ?? 1) : 128 + signal;
  } finally {
    signals.release();
  }
}

/** A shell with a terminal takes no notice of SIGTERM: whoever sends a second one hangs up, as a closed terminal does. */
function passOnSignals(context: Context, session: ExecSession): { release(): void; hungUp(): Promise<void> } {
  let wasAsked = false;
  let hangingUp: Promise<void> = Promise.resolve();
  const hangUp = (): void => {
    hangingUp = session.hangUp();
  };
  const releases = [
    context.onSignal('SIGINT', () => session.interrupt()),
    context.onSignal('SIGTERM', () => {
      if (wasAsked) hangUp();
      else session.terminate();
      wasAsked = true;
    }),
    context.onSignal('SIGHUP', hangUp),
  ];
  return {
    release() {
      for (const release of releases) release();
    },
    hungUp: () => hangingUp,
  };
}
