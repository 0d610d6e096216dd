import type { ExecSession } from '../../client/api.ts';
import type { CaughtSignal, Context, Invocation } from '../context.ts';

/** Runs a command beside a job, in its directory and with its environment; a shell unless told otherwise. */
export async function execute(context: Context, { args, rest }: Invocation): Promise<number> {
  const [reference = '', ...words] = args;
  const client = await context.client();
  const job = await client.jobs.get(reference);
  const signals = passOnSignals(context);
  try {
    const session = await job.exec({ command: [...words, ...(rest ?? [])] });
    signals.beginWith(session);
    if (session.withoutTerminal !== null) context.output.note(session.withoutTerminal);
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

interface PassedOn {
  beginWith(session: ExecSession): void;
  /** Resolves when nobody has to stay here for a command that was hung up on. */
  hungUp(): Promise<void>;
  release(): void;
}

/**
 * A shell with a terminal takes no notice of SIGTERM: whoever sends a second one hangs up, as a closed terminal does.
 * Listens before there is a command: one that just began would be left behind by a signal that ends this process. Until
 * then a signal does what it does to a process that does not listen.
 */
function passOnSignals(context: Context): PassedOn {
  let session: ExecSession | null = null;
  let wasAsked = false;
  let hangingUp: Promise<void> = Promise.resolve();
  const passOn = (signal: CaughtSignal, running: ExecSession): void => {
    if (signal === 'SIGINT') running.interrupt();
    else if (signal === 'SIGTERM' && !wasAsked) running.terminate();
    else hangingUp = running.hangUp();
    wasAsked ||= signal === 'SIGTERM';
  };
  const releases = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((signal) =>
    context.onSignal(signal, () => {
      if (session !== null) return passOn(signal, session);
      release();
      context.endBy(signal);
    }),
  );
  const release = (): void => {
    for (const one of releases) one();
  };
  return {
    beginWith(running) {
      session = running;
    },
    hungUp: () => hangingUp,
    release,
  };
}
