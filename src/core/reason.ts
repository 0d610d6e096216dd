/** Why a job ended (U1). Whatever ended carries one of these. */
export const endReasons = {
  exit: 'The command ended by itself, with an exit code or by a signal.',
  'setup-failed': 'The setup command failed; the run command never started.',
  'node-fault': 'The node could not do its part: it could not start or follow the process, or its disk failed.',
  'node-lost': 'The node went away with the attempt on it.',
  stopped: 'A person stopped it.',
  'timed-out': 'It ran longer than its timeout.',
  'gave-up': 'It was restarted as often as its policy allows.',
  unschedulable: 'No node can ever run it as it was asked for.',
} as const satisfies Record<string, string>;

export type EndReason = keyof typeof endReasons;

/** How an attempt or a job ended: decided once, by the first cause. */
export interface Outcome {
  readonly reason: EndReason;
  readonly exitCode: number | null;
  /** Signal number, where the process died of one. */
  readonly signal: number | null;
  /** One sentence for a person. */
  readonly message: string;
}

/** Why something waits. Derived from the state whenever it is asked for, never stored. */
export const waitReasons = {
  'no-node': 'No node is running.',
  'no-fit': 'No node is large enough, or of the kind asked for.',
  busy: 'The nodes that fit are taken by other work.',
  'array-limit': 'The array runs as many at once as it may.',
  backoff: 'The next attempt starts after a delay.',
  unconfirmed: 'Processes of the attempt before may still run, and the job must never run twice.',
  'node-away': 'The node it was placed on is not connected.',
  quota: 'Its project uses as much as it may.',
  'node-lost': 'The node it runs on is lost, and its profile says to wait for it.',
  draining: 'The nodes that fit are being drained.',
  'too-few-nodes': 'It needs more nodes at once than there are.',
  secret: 'No node that is ready can open a secret that it names.',
  spread: 'Each node that fits has a replica of its service already, and its profile keeps them apart.',
} as const satisfies Record<string, string>;

export type WaitReason = keyof typeof waitReasons;

export interface Waiting {
  readonly reason: WaitReason;
  /** One sentence for a person, with the figures. */
  readonly message: string;
}

const signalNumbers: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

export function signalNumber(name: string): number | null {
  return signalNumbers[name] ?? null;
}

/** The outcome of a command that ended by itself. */
export function exitOutcome(exit: { exitCode: number | null; signal: number | null; detail?: string | null }): Outcome {
  const how = howItExited(exit);
  const message = exit.detail ? `${how}: ${exit.detail}` : how;
  return { reason: 'exit', exitCode: exit.exitCode, signal: exit.signal, message };
}

/** `exited with code 3`, `killed by signal 9`. */
export function howItExited(exit: { readonly exitCode: number | null; readonly signal: number | null }): string {
  if (exit.signal !== null) return `killed by signal ${exit.signal}`;
  return exit.exitCode === null ? 'ended without an exit code' : `exited with code ${exit.exitCode}`;
}

/** True for the one way a job can end well. */
export function isSuccess(outcome: Outcome): boolean {
  return outcome.reason === 'exit' && outcome.exitCode === 0;
}
