import { findTask, parseTaskKey, taskKeyText } from '../../core/job/job.ts';
import type { OnNodeLoss, Settings } from '../../core/profile/settings.ts';
import type { State } from '../../core/state.ts';
import { wasWell } from '../serving.ts';
import { firstLaunchMs, isRun, type TrueProcess, type TrueSignal, type Truth } from '../truth.ts';
import type { Checker } from './checker.ts';

/** What must hold of the processes that truly ran, whatever the control plane believes. */
export const truthCheckers: readonly Checker[] = [
  {
    id: 'I9',
    says: 'no GPU is used by two attempts at once',
    open: ({ truth, cloned }, report) => ({
      finish: () => {
        // What cannot be killed on the older of two copies of a machine is known to neither.
        const own = truth.processes.filter(({ node }) => !cloned.has(node));
        const uses = own.flatMap((one) => one.devices.map((device) => ({ what: `${device} of ${one.machine}`, one })));
        for (const { what, one, other } of overlaps(uses)) report(`${what} by ${one.attempt} and ${other.attempt}`);
      },
    }),
  },
  {
    id: 'I9',
    says: 'what an attempt was given is not free while a process of it lives',
    open: ({ truth, cloned }, report) => ({
      beforeFact: (fact, _state, { seq }) => {
        if (fact.kind !== 'NodeLost' || fact.held) return;
        const attempt = taskKeyText(fact);
        const isAlive = ({ startSeq, endMs, endSeq }: TrueProcess): boolean =>
          startSeq < seq && (endMs === null || (endSeq !== null && endSeq > seq));
        const alive = truth.processes.find((one) => one.attempt === attempt && isAlive(one));
        if (alive === undefined || cloned.has(alive.node)) return;
        report(`${attempt} was lost in fact ${seq} and gave back what it had; its ${alive.label} still ran`);
      },
    }),
  },
  {
    id: 'I11',
    says: 'an attempt starts once at most',
    open: ({ truth, cloned }, report) => {
      const supervised = new Set<string>();
      return {
        beforeFact: (fact) => {
          if (fact.kind === 'JobSubmitted' && fact.settings.restart.policy !== 'never') supervised.add(fact.job);
        },
        finish: () => {
          const starts = new Set<string>();
          for (const { attempt, label, startMs, node, machine } of commands(truth)) {
            // Its runs are another promise (I18).
            if (label === 'run' && supervised.has(parseTaskKey(attempt)?.job ?? '')) continue;
            const start = `${label} of ${attempt}`;
            // A copy of a machine cannot be told from that machine, rebooted before it began with what it was given.
            const known = cloned.has(node) ? `${start} on ${machine}` : start;
            if (starts.has(known)) report(`${start} started again at ${startMs.toFixed(3)} ms`);
            starts.add(known);
          }
        },
      };
    },
  },
  {
    id: 'I12',
    says: 'what must wait for its node never runs twice at once',
    open: ({ truth, cloned }, report) => {
      const choices = new Map<string, OnNodeLoss>();
      return {
        beforeFact: (fact) => {
          if (fact.kind === 'JobSubmitted') choices.set(fact.job, fact.settings.onNodeLoss);
          // A person has said that the next copy need not wait.
          if (fact.kind === 'RetryRequested') choices.delete(fact.job);
        },
        finish: () => {
          const uses = truth.processes.flatMap((one) => {
            const key = parseTaskKey(one.attempt);
            // A copy of a machine that was cut off cannot be told from that machine, rebooted.
            if (key === null || choices.get(key.job) !== 'wait' || cloned.has(one.node)) return [];
            return [{ what: `${key.job}.${key.index}.${key.rank}`, one }];
          });
          for (const { what, one, other } of overlaps(uses)) {
            report(`${what} ran as ${one.attempt} and as ${other.attempt}`);
          }
        },
      };
    },
  },
  {
    id: 'I16',
    says: 'a restart of the agent or of a control plane alone ends no run',
    open: ({ truth, cloned }, report) => {
      const bySeq = new Map<number, TrueSignal[]>();
      // What cannot be killed gets the same signal again and again: once is enough.
      const told = new Set<string>();
      for (const one of truth.signals) {
        if (one.attempt === null || one.isSweep || one.signal === 'SIGCONT' || one.role === 'helper') continue;
        // Of two copies of a machine the older one ends what it has, whatever becomes of it on the newer one.
        if (cloned.has(one.by)) continue;
        bySeq.set(one.seq, [...(bySeq.get(one.seq) ?? []), one]);
      }
      return {
        beforeFact: (fact, state) => {
          if (fact.kind !== 'NodeFault' || fact.message.startsWith('unkillable')) return;
          // Somebody took it away between the placing and the start.
          if (/^secret ".*" is not on this node any more$/.test(fact.message)) return;
          const attempt = taskKeyText(fact);
          const node = findTask(state.jobs.get(fact.job), fact)?.task.node ?? '';
          if (truth.troubled.has(attempt) || truth.troubled.has(node)) return;
          report(`${attempt} ended with a fault that nothing explains: ${fact.message}`);
        },
        afterBatch: (state, { lastSeq }) => {
          for (const signal of bySeq.get(lastSeq) ?? []) {
            const what = `${signal.by} sent ${signal.signal} to ${signal.attempt}, which nothing had ended`;
            if (told.has(what) || isJustified(signal, state, truth)) continue;
            told.add(what);
            report(what);
          }
        },
      };
    },
  },
  {
    id: 'I17',
    says: 'no signal reaches a process that is not ours',
    open: ({ truth }, report) => ({
      finish: () => {
        for (const { by, signal, role, pid, attempt } of truth.signals) {
          if (attempt === null) report(`${by} sent ${signal} to process ${pid}, a ${role}`);
        }
      },
    }),
  },
  {
    id: 'I24',
    says: 'no port is used twice at once on one node',
    open: ({ truth }, report) => ({
      finish: () => {
        const uses = commands(truth).flatMap((one) =>
          one.port === null ? [] : [{ what: `port ${one.port} of ${one.node} on ${one.machine}`, one }],
        );
        for (const { what, one, other } of overlaps(uses)) report(`${what} by ${one.attempt} and ${other.attempt}`);
      },
    }),
  },
  {
    id: 'S7',
    says: 'the exit code is the one that the command ended with',
    open: ({ truth }, report) => {
      const exits = new Map(commands(truth).map((one) => [`${one.label} ${one.attempt}`, one.exit]));
      return {
        beforeFact: (fact) => {
          if (fact.kind !== 'JobExited' && fact.kind !== 'SetupFailed') return;
          const label = fact.kind === 'JobExited' ? 'run' : 'setup';
          const exit = exits.get(`${label} ${taskKeyText(fact)}`) ?? null;
          if (exit?.code === fact.exitCode && exit.signal === fact.signal) return;
          const { exitCode: code, signal } = fact;
          report(
            `${label} of ${taskKeyText(fact)}: ${JSON.stringify(exit)}, told as ${JSON.stringify({ code, signal })}`,
          );
        },
      };
    },
  },
];

function commands(truth: Truth): readonly TrueProcess[] {
  return truth.processes.filter(({ role }) => role === 'command');
}

interface Use {
  /** What only one attempt may have at a time. */
  readonly what: string;
  readonly one: TrueProcess;
}

function overlaps(uses: readonly Use[]): readonly (Use & { readonly other: TrueProcess })[] {
  const found: (Use & { other: TrueProcess })[] = [];
  const byWhat = new Map<string, TrueProcess[]>();
  for (const { what, one } of uses) byWhat.set(what, [...(byWhat.get(what) ?? []), one]);
  for (const [what, all] of byWhat) {
    for (const [i, one] of all.entries()) {
      for (const other of all.slice(i + 1)) {
        if (one.attempt !== other.attempt && overlap(one, other)) found.push({ what, one, other });
      }
    }
  }
  return found;
}

function overlap(one: TrueProcess, other: TrueProcess): boolean {
  return one.startMs < (other.endMs ?? Infinity) && other.startMs < (one.endMs ?? Infinity);
}

/** The log had ended the attempt by then, or its own time was over: agents keep that by themselves. */
function isJustified({ attempt, atMs }: TrueSignal, state: State, truth: Truth): boolean {
  const key = parseTaskKey(attempt ?? '');
  if (key === null || attempt === null) return false;
  // A shim that was held up in the middle of its claim cannot be told from one that died there.
  if (truth.troubled.has(attempt)) return true;
  const job = state.jobs.get(key.job);
  const found = findTask(job, key);
  if (found === null || found.element.verdict !== null || found.task.step === 'ended') return true;
  if (job !== undefined && wasSick({ attempt, atMs }, job.settings, truth)) return true;
  const timeoutMs = job?.settings.timeoutMs ?? null;
  const startMs = firstLaunchMs(truth, attempt);
  const slackMs = 1000;
  return timeoutMs !== null && startMs !== null && atMs - startMs >= timeoutMs - slackMs;
}

/** A probe may have ended its run: not long ago it answered wrongly, or not at all. */
function wasSick(
  { attempt, atMs }: { readonly attempt: string; readonly atMs: number },
  { startup, liveness, graceMs }: Settings,
  truth: Truth,
): boolean {
  const probes = [startup, liveness].filter((probe) => probe !== null);
  const isLive = ({ startMs, endMs }: TrueProcess): boolean => startMs <= atMs && atMs <= (endMs ?? Infinity);
  const run = truth.processes.find((one) => one.attempt === attempt && isRun(one) && isLive(one));
  if (run === undefined || run.serves === null || probes.length === 0) return false;
  if (run.serves.elsewhere) return true;
  const backMs =
    graceMs + slowestEndMs + Math.max(...probes.map(({ intervalMs, timeoutMs }) => intervalMs + timeoutMs));
  const { serves, startMs } = run;
  // A verdict stands until the run has ended, however long that takes and whatever it answers by then.
  return [firstSignalMs(truth, run, atMs), atMs].some(
    (sinceMs) => !wasWell(serves, sinceMs - startMs - backMs, sinceMs - startMs),
  );
}

/** When the run was told to end for the first time, up to a time by which it was. */
function firstSignalMs({ signals }: Truth, { attempt, startMs }: TrueProcess, untilMs: number): number {
  const first = signals.find((one) => {
    if (one.attempt !== attempt || one.isSweep || one.role !== 'command' || one.signal === 'SIGCONT') return false;
    return startMs <= one.atMs && one.atMs <= untilMs;
  });
  return first?.atMs ?? untilMs;
}

/** Between the last wrong answer and the last signal, its grace aside: a slow disk and a look for what is left. */
const slowestEndMs = 10_000;
