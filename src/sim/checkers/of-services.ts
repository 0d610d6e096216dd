import type { Fact } from '../../core/fact.ts';
import { rolloutOf } from '../../core/service/plan.ts';
import { openRollout, type Replica, type Service, wantedReplicas } from '../../core/service/service.ts';
import type { State } from '../../core/state.ts';
import type { Checker } from './checker.ts';

/** What services and their rollouts promise. */
export const serviceCheckers: readonly Checker[] = [
  {
    id: 'I19',
    says: 'what is available stays above its floor, as far as we do it',
    open: (_history, report) => ({
      beforeFact: (fact, state, { nowMs }) => {
        const found = dismissed(fact, state);
        if (found === null) return;
        const { service, replica } = found;
        const { minReadyMs, maxUnavailable } = rolloutOf(service);
        if (!isAvailable(replica, minReadyMs, nowMs)) return;
        const others = [...service.replicas.values()].filter((one) => one !== replica && !one.stopping);
        const left = others.filter((one) => isAvailable(one, minReadyMs, nowMs)).length;
        const floor = wantedReplicas(service) - maxUnavailable;
        if (left < floor) report(`${replica.job} was dismissed with ${left} left, the floor is ${floor}`);
      },
    }),
  },
  {
    id: 'I20',
    says: 'replicas never exceed what is wanted and the surge',
    open: (_history, report) => ({
      beforeFact: (fact, state) => {
        if (fact.kind !== 'JobSubmitted' || fact.service === null) return;
        const service = state.services.get(fact.service.name);
        if (service === undefined) return report(`${fact.job} was started for a service that is not there`);
        const most = wantedReplicas(service) + rolloutOf(service).maxSurge;
        const count = [...service.replicas.values()].filter((one) => !isLeftBehind(service, one)).length + 1;
        if (count > most) report(`${fact.job} makes ${count}, of at most ${most}`);
      },
    }),
  },
  {
    id: 'I21',
    says: 'a rollout ends, pauses or goes back by its deadline',
    open: (_history, report) => {
      const overdue = new Map<string, Overdue>();
      return {
        afterBatch: (state, { nowMs, bootId, bootMs, lastSeq }) => {
          for (const { name, rollout } of state.services.values()) {
            if (rollout?.state !== 'progressing' || nowMs <= (rollout.deadlineAtMs ?? -Infinity)) {
              overdue.delete(name);
              continue;
            }
            const late = overdue.get(name) ?? { sinceMs: nowMs, batches: 0, bootsMs: new Map(), isTold: false };
            overdue.set(name, late);
            late.batches += 1;
            const seenMs = late.bootsMs.get(bootId) ?? bootMs;
            late.bootsMs.set(bootId, seenMs);
            if (late.isTold || late.batches < mostOverdueBatches || bootMs - seenMs < 1000) continue;
            late.isTold = true;
            report(`that of ${name} to ${rollout.to} is ${nowMs - late.sinceMs} ms late after fact ${lastSeq}`);
          }
        },
      };
    },
  },
  {
    id: 'X25',
    says: 'a failing rollout touches no healthy replica of the old revision',
    open: (_history, report) => ({
      beforeFact: (fact, state, { nowMs }) => {
        const found = dismissed(fact, state);
        if (found === null || openRollout(found.service) === null) return;
        const { service, replica } = found;
        if (replica.revision === service.revision || replica.readySinceMs === null) return;
        const { minReadyMs, maxUnavailable } = rolloutOf(service);
        const others = [...service.replicas.values()].filter((one) => one !== replica && !one.stopping);
        const isUp = (one: Replica): boolean =>
          one.revision === service.revision ? isAvailable(one, minReadyMs, nowMs) : one.readySinceMs !== null;
        const left = others.filter(isUp).length;
        const least = wantedReplicas(service) - maxUnavailable;
        if (left < least)
          report(`${replica.job} was ready and dismissed for revision ${service.revision}, ${left} left`);
      },
    }),
  },
  {
    id: 'I25',
    says: 'endpoints are those of live runs of current attempts',
    open: ({ deadEndpoints }, report) => ({
      finish: () => {
        // Each is seen every second: once is enough.
        const byEndpoint = new Map(deadEndpoints.map((one) => [one.endpoint, one]));
        for (const { service, endpoint, deadMs, allowedMs } of byEndpoint.values()) {
          report(`${endpoint} of ${service} had been dead for ${deadMs.toFixed(0)} ms, ${allowedMs} are allowed`);
        }
      },
    }),
  },
  {
    id: 'X20',
    says: 'a service that was acknowledged is in the log',
    open: ({ applied }, report) => {
      const known = new Set<string>();
      return {
        beforeFact: (fact) => {
          if (fact.kind === 'ServiceApplied') known.add(`${fact.service}@${fact.revision.number}`);
        },
        finish: () => {
          for (const { service, revision } of applied) {
            if (!known.has(`${service}@${revision}`)) report(`the log knows nothing of ${service}@${revision}`);
          }
        },
      };
    },
  },
];

/**
 * The log's time may jump, with machines that take turns and whose clocks differ even at each commit, and nobody looks
 * at it while no agent runs; but not so often as this, while the clock of one machine says that time truly passed.
 */
const mostOverdueBatches = 20;

interface Overdue {
  readonly sinceMs: number;
  batches: number;
  /** For each boot of a machine its own clock at its first commit since. */
  readonly bootsMs: Map<string, number>;
  isTold: boolean;
}

/** Ready without a break for long enough. Said here once more: the plan's own word is what is judged. */
function isAvailable({ readySinceMs }: Replica, minReadyMs: number, nowMs: number): boolean {
  return readySinceMs !== null && readySinceMs + minReadyMs <= nowMs;
}

/** It ended with its lost node, which may come back with a copy of it: whoever does not say `wait` accepts that. */
function isLeftBehind({ revisions }: Service, { ended, away, dismissed, revision }: Replica): boolean {
  return ended && away && (dismissed || revisions.get(revision)?.settings.onNodeLoss !== 'wait');
}

/** A replica that its service tells to stop, while the service is wanted. */
function dismissed(fact: Fact, state: State): { readonly service: Service; readonly replica: Replica } | null {
  if (fact.kind !== 'ReplicaDismissed') return null;
  const service = state.services.get(fact.service);
  const replica = service?.replicas.get(fact.job);
  if (service === undefined || replica === undefined || service.standing !== 'wanted') return null;
  if (fact.reason.startsWith('chosen by ')) return null;
  return { service, replica };
}
