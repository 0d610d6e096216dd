import type { RestartPolicy } from '../../core/supervision/policy.ts';
import { decideRestart, freshHistory } from '../../core/supervision/restart.ts';
import { notAgain } from '../exit-code.ts';

/** How one run of a daemon ended. */
export interface DaemonEnd {
  readonly code: number | null;
  readonly signal: string | null;
}

/** What supervising needs of the outside. */
export interface DaemonRuns {
  /** Runs the daemon once; resolves when it has ended. */
  run(): Promise<DaemonEnd>;
  /** True once someone asked for the end: then nothing is started again. */
  isStopping(): boolean;
  /** True when another supervisor has taken this one's place: `yard up` came while the daemon was down. */
  isReplaced(): Promise<boolean>;
  /** Resolves after the delay, or at once when the end is asked for. */
  pause(delayMs: number): Promise<void>;
  /** Milliseconds that only ever grow. */
  nowMs(): number;
  say(line: string): void;
}

/** An agent that ends well was told to; one that fails ten times without a stable minute needs a person. */
export const daemonPolicy: RestartPolicy = {
  policy: 'on-failure',
  backoff: { initialMs: 1000, maxMs: 30_000 },
  maxRestarts: null,
  giveUp: { kind: 'failures', failures: 10 },
  onGiveUp: 'end',
};

/** Keeps a daemon of our own running, by the rules that keep services running (X11). Resolves with its last end. */
export async function supervise(
  runs: DaemonRuns,
  name: string,
  policy: RestartPolicy = daemonPolicy,
): Promise<DaemonEnd> {
  let history = freshHistory;
  for (;;) {
    const startedMs = runs.nowMs();
    const end = await runs.run();
    if (end.code === notAgain) {
      runs.say(`the agent of ${name} was refused for good; it is not started again`);
      return end;
    }
    const message = end.signal === null ? `exited with code ${end.code}` : `was killed by ${end.signal}`;
    const kind = runs.isStopping() ? 'stopped' : end.code === 0 ? 'success' : 'failure';
    const decision = decideRestart(
      policy,
      history,
      { kind, stableSinceMs: startedMs, message },
      { nowMs: runs.nowMs(), seed: name },
    );
    if (decision.kind === 'end') return end;
    if (decision.kind === 'give-up') {
      runs.say(`the agent of ${name} ${message}; given up: ${decision.message}`);
      return end;
    }
    runs.say(`the agent of ${name} ${message}; it is started again in ${decision.delayMs / 1000} s`);
    history = decision.history;
    await runs.pause(decision.delayMs);
    if (runs.isStopping() || (await runs.isReplaced())) return end;
  }
}
