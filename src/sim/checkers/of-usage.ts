import type { State } from '../../core/state.ts';
import { usageEntries } from '../../core/usage/usage.ts';
import type { Checker } from './checker.ts';

/** What is charged, held against what attempts held from fact to fact. */
export const usageCheckers: readonly Checker[] = [
  {
    id: 'X21',
    says: 'projects are charged for what their attempts held, and for nothing else',
    open: (_history, report) => {
      const sums = new Map<string, Held>();
      let holding = new Map<string, Held>();
      let sinceMs = 0;
      return {
        beforeFact: (_fact, _state, { nowMs }) => {
          for (const [who, { gpus, cores }] of holding) {
            addTo(sums, who, { gpus: gpus * (nowMs - sinceMs), cores: cores * (nowMs - sinceMs) });
          }
          sinceMs = nowMs;
        },
        afterBatch: (state) => {
          holding = holdingNow(state);
        },
        finish: (state) => {
          const charged = new Map<string, Held>();
          for (const { project, owner, gpuMs, coreMs } of usageEntries(state, sinceMs)) {
            addTo(charged, `${owner} in ${project}`, { gpus: gpuMs, cores: coreMs });
          }
          for (const who of new Set([...sums.keys(), ...charged.keys()])) {
            const [due, told] = [sums, charged].map((one) => one.get(who) ?? nothing);
            if (isClose(due, told)) continue;
            report(`${who} was charged ${JSON.stringify(told)} ms, and held ${JSON.stringify(due)}`);
          }
        },
      };
    },
  },
];

interface Held {
  readonly gpus: number;
  readonly cores: number;
}

const nothing: Held = { gpus: 0, cores: 0 };

/** What attempts that have not ended hold at this moment, by the owner and the project of their jobs. */
function holdingNow({ nodes, jobs }: State): Map<string, Held> {
  const holding = new Map<string, Held>();
  for (const { allocations } of nodes.values()) {
    for (const [task, { devices, cpus, held }] of allocations) {
      const job = jobs.get(task.split('.')[0] ?? '');
      if (job === undefined || held) continue;
      addTo(holding, `${job.owner} in ${job.project}`, { gpus: devices.length, cores: cpus });
    }
  }
  return holding;
}

function addTo(sums: Map<string, Held>, who: string, { gpus, cores }: Held): void {
  const before = sums.get(who) ?? nothing;
  sums.set(who, { gpus: before.gpus + gpus, cores: before.cores + cores });
}

/** Shares of cores add up with the rounding of decimals. */
function isClose(one: Held = nothing, other: Held = nothing): boolean {
  return Math.abs(one.gpus - other.gpus) < 0.01 && Math.abs(one.cores - other.cores) < 0.01;
}
