import { parseTaskKey, taskKeyText } from '../../core/job/job.ts';
import { jitterShare, type RestartPolicy, stablePeriodMs } from '../../core/supervision/policy.ts';
import { portTakenCode, wasWell } from '../serving.ts';
import { isRun, type TrueProcess, type Truth } from '../truth.ts';
import type { Checker } from './checker.ts';

/** What supervision promises, held against the runs as they truly were. */
export const restartCheckers: readonly Checker[] = [
  {
    id: 'I18',
    says: 'a restart waits as its policy says, and giving up comes exactly when due',
    open: ({ truth, cloned }, report) => {
      const policies = new Map<string, RestartPolicy>();
      const givenUp: { attempt: string; message: string }[] = [];
      return {
        beforeFact: (fact) => {
          if (fact.kind === 'JobSubmitted') policies.set(fact.job, fact.settings.restart);
          if (fact.kind === 'GaveUp') givenUp.push({ attempt: taskKeyText(fact), message: fact.message });
        },
        finish: () => {
          const runsOf = runsByAttempt(truth, cloned);
          for (const [attempt, runs] of runsOf) {
            const policy = policies.get(parseTaskKey(attempt)?.job ?? '');
            if (policy === undefined) continue;
            for (const problem of wrongRestarts(policy, runs)) report(`${attempt}: ${problem}`);
          }
          for (const { attempt, message } of givenUp) {
            if (!runsOf.has(attempt) && cloned.size > 0) continue;
            const problem = wrongGiveUp(message, runsOf.get(attempt) ?? []);
            if (problem !== null) report(`${attempt} gave up as it "${message}", but ${problem}`);
          }
        },
      };
    },
  },
  {
    id: 'B3',
    says: 'restarts are counted on whatever becomes of the agent',
    open: ({ truth, cloned }, report) => {
      const told = new Map<string, number>();
      const final = new Map<string, number>();
      return {
        beforeFact: (fact) => {
          if (fact.kind !== 'Restarted' && fact.kind !== 'GaveUp') return;
          const attempt = taskKeyText(fact);
          const last = told.get(attempt) ?? 0;
          if (fact.kind === 'GaveUp') final.set(attempt, last);
          else if (fact.restarts <= last) report(`${attempt} was told of ${last}, then of ${fact.restarts}`);
          if (fact.kind === 'Restarted') told.set(attempt, fact.restarts);
        },
        finish: () => {
          const runsOf = runsByAttempt(truth, cloned);
          for (const [attempt, restarts] of told) {
            if (!runsOf.has(attempt) && cloned.size > 0) continue;
            const most = (runsOf.get(attempt) ?? []).length;
            if (restarts > most) report(`${attempt} was told of ${restarts} restarts, of ${most} runs`);
          }
          for (const [attempt, restarts] of final) {
            if (!runsOf.has(attempt) && cloned.size > 0) continue;
            const runs = runsOf.get(attempt) ?? [];
            const least = runs.filter((run, i) => !lostItsPort(run, runs[i + 1])).length - 1;
            if (restarts < least) report(`${attempt} was told of ${restarts} restarts, of ${runs.length} runs`);
          }
        },
      };
    },
  },
  {
    id: 'X26',
    says: 'a run is said to be ready only when it answers',
    open: ({ truth, cloned }, report) => {
      const probed = new Set<string>();
      return {
        beforeFact: (fact, _state, { seq }) => {
          if (fact.kind === 'JobSubmitted' && fact.settings.readiness !== null) probed.add(fact.job);
          if (fact.kind !== 'ReadinessChanged' || !fact.ready || !probed.has(fact.job)) return;
          const attempt = taskKeyText(fact);
          const run = truth.processes.findLast((one) => one.attempt === attempt && isRun(one) && one.startSeq < seq);
          if (run === undefined || cloned.has(run.node) || hadOpened(run, seq)) return;
          // Another node of the same machine may use the same port, as long as nothing listens there.
          const isNeighbour = (one: TrueProcess): boolean => one.machine === run.machine && one.port === run.port;
          if (truth.processes.some((one) => one !== run && isNeighbour(one) && hadOpened(one, seq))) return;
          report(`${attempt} was said to be ready in fact ${seq}, and its run had not opened its port`);
        },
      };
    },
  },
  {
    id: 'X6',
    says: 'a run that answers well is not reported as anything else, whatever becomes of the agent',
    open: ({ truth }, report) => {
      const readySeqs = new Map<string, number>();
      const restarts = new Map<string, number>();
      return {
        beforeFact: (fact, _state, { seq }) => {
          if (fact.kind === 'Restarted') {
            readySeqs.delete(taskKeyText(fact));
            restarts.set(taskKeyText(fact), fact.restarts);
          }
          if (fact.kind !== 'ReadinessChanged') return;
          const attempt = taskKeyText(fact);
          const readySeq = readySeqs.get(attempt);
          if (!fact.ready) readySeqs.delete(attempt);
          else if (readySeq === undefined) readySeqs.set(attempt, seq);
          if (fact.ready || readySeq === undefined) return;
          // What is told late, after an outage of the server, may be about a run before the one that lives.
          const run = truth.processes.filter((one) => isCountedRun(one, attempt))[restarts.get(attempt) ?? 0];
          if (
            run?.serves == null ||
            !livesAt(run, seq) ||
            !hadOpened(run, readySeq) ||
            !isHeard(run, seq) ||
            !isWell(run)
          )
            return;
          report(`${attempt} was said to be ${fact.reason} in fact ${seq}`);
        },
      };
    },
  },
];

/** One that a restart after it is counted for. */
function isCountedRun(one: TrueProcess, attempt: string): boolean {
  return one.attempt === attempt && isRun(one) && one.exit?.code !== portTakenCode;
}

/** It was still there when the fact was told, and so when the agent asked. */
function livesAt({ startSeq, endMs, endSeq }: TrueProcess, seq: number): boolean {
  if (startSeq >= seq) return false;
  return endMs === null || (endSeq !== null && endSeq > seq);
}

/**
 * It listened on its own port when it was said to be ready. Else its probes were answered by somebody else: a task of
 * another node of its machine may be given the same port, as long as nothing listens there.
 */
function hadOpened({ openSeq }: TrueProcess, readySeq: number): boolean {
  return openSeq !== null && openSeq < readySeq;
}

/** No answer to a question that was asked before it listened was still to come: that may be the last of its failures. */
function isHeard({ heardSeq }: TrueProcess, seq: number): boolean {
  return heardSeq !== null && heardSeq < seq;
}

/** Of a restart that is earlier than the shortest delay, or that should not be at all. */
function wrongRestarts(policy: RestartPolicy, runs: readonly TrueProcess[]): readonly string[] {
  const problems: string[] = [];
  const { initialMs, maxMs } = policy.backoff;
  let [restarts, endsInRow, failures] = [0, 0, 0];
  for (const [i, run] of runs.entries()) {
    const next = runs[i + 1];
    if (next === undefined) break;
    const endMs = run.endMs ?? Infinity;
    if (endMs > next.startMs) problems.push(`run ${i + 2} began before run ${i + 1} had ended`);
    if (lostItsPort(run, next)) continue;
    // Whether it was ready all the time is not known here: at least so much is certain.
    const mayBeStable = endMs - run.startMs >= stablePeriodMs;
    endsInRow = (mayBeStable ? 0 : endsInRow) + 1;
    failures = hasFailed(run) ? (mayBeStable ? 0 : failures) + 1 : 0;
    const leastMs = Math.floor(Math.min(maxMs, initialMs * 2 ** (endsInRow - 1)) * (1 - jitterShare));
    const waitedMs = next.startMs - endMs;
    if (waitedMs < leastMs) problems.push(`run ${i + 2} began ${waitedMs.toFixed(0)} ms after the end, not ${leastMs}`);
    const { giveUp, maxRestarts } = policy;
    if (giveUp?.kind === 'failures' && failures >= giveUp.failures) problems.push(`${failures} failures are too many`);
    restarts += 1;
    if (maxRestarts !== null && restarts > maxRestarts) problems.push(`restarted ${restarts} times`);
    if (policy.policy === 'never' || (policy.policy === 'on-failure' && !hasFailed(run) && isWell(run))) {
      problems.push(`it was restarted after ${JSON.stringify(run.exit)}, under ${policy.policy}`);
    }
  }
  return problems;
}

function wrongGiveUp(message: string, runs: readonly TrueProcess[]): string | null {
  const restarted = /^restarted (\d+) times, as often/.exec(message)?.[1];
  if (restarted !== undefined && runs.length <= Number(restarted)) return `there were ${runs.length} runs`;
  const failed = /^failed (\d+) times in a row/.exec(message)?.[1];
  if (failed === undefined) return null;
  const last = runs.slice(-Number(failed));
  const good = last.find((run) => !hasFailed(run) && isWell(run));
  if (last.length < Number(failed)) return `there were ${runs.length} runs`;
  return good === undefined ? null : `one of the last ended with ${JSON.stringify(good.exit)}`;
}

function hasFailed({ exit }: TrueProcess): boolean {
  return exit !== null && exit.code !== 0;
}

/** No probe can have found anything wrong. */
function isWell({ serves, startMs, endMs }: TrueProcess): boolean {
  if (serves === null) return true;
  return wasWell(serves, serves.opensMs ?? 0, (endMs ?? startMs) - startMs);
}

/** A run that found its port taken counts for nothing, and the next gets another port. */
function lostItsPort(run: TrueProcess, next: TrueProcess | undefined): boolean {
  return run.exit?.code === portTakenCode || (next !== undefined && next.port !== run.port);
}

/** Without nodes of which there was a copy: both of its machines may have run one attempt. */
function runsByAttempt(truth: Truth, cloned: ReadonlySet<string>): ReadonlyMap<string, readonly TrueProcess[]> {
  const byAttempt = new Map<string, TrueProcess[]>();
  for (const one of truth.processes) {
    if (isRun(one) && !cloned.has(one.node)) byAttempt.set(one.attempt, [...(byAttempt.get(one.attempt) ?? []), one]);
  }
  return byAttempt;
}
