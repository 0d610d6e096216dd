import { whyWaiting } from '../../core/placement/waiting.ts';
import type { WaitReason } from '../../core/reason.ts';
import type { State } from '../../core/state.ts';
import type { Checker } from './checker.ts';

/** Reasons that no healing of the world takes away. */
const lastingReasons: ReadonlySet<WaitReason> = new Set(['no-fit', 'too-few-nodes']);

/** What must come about once the world has healed. */
export const restCheckers: readonly Checker[] = [
  {
    id: 'I27',
    says: 'after healing every job ends or says why it waits, and every service stands as it should',
    open: ({ batches, truth, leftovers, unsettled }, report) => ({
      finish: (state) => {
        for (const problem of unsettled) report(problem);
        for (const problem of unrest(state, batches.at(-1)?.nowMs ?? 0)) report(problem);
        for (const { attempt, label, role, endMs } of truth.processes) {
          if (endMs === null) report(`the ${role} in ${label} of ${attempt} still runs`);
        }
        for (const attempt of leftovers) report(`the agent still keeps ${attempt}`);
      },
    }),
  },
  {
    id: 'I28',
    says: 'what stands still appends nothing',
    open: ({ rest, steady }, report) => ({
      finish: () => {
        for (const still of [steady, rest]) {
          if (still === null || still.endSeq === still.startSeq) continue;
          report(`${still.endSeq - still.startSeq} facts were appended after fact ${still.startSeq}`);
        }
      },
    }),
  },
  {
    id: 'bug',
    says: 'only faults of the outside end a program',
    open: ({ bugs }, report) => ({
      finish: () => {
        for (const bug of bugs) report(bug);
      },
    }),
  },
];

/** What keeps a state from being at rest; empty when nothing does. */
export function unrest(state: State, nowMs: number): readonly string[] {
  const problems: string[] = [];
  for (const job of state.jobs.values()) {
    const waiting = whyWaiting(state, job, nowMs);
    if (job.outcome === null && job.live === 0 && waiting !== null && lastingReasons.has(waiting.reason)) continue;
    const steps = [...job.elements].map(([index, element]) => {
      const tasks = element.tasks.map((task) => task.step).join(' ');
      return `${index}: ${element.kind} ${element.attempt} ${tasks}`;
    });
    const why = job.outcome === null ? (waiting?.message ?? 'no reason') : 'ended, but not archived';
    problems.push(`${job.id} (${why}; ${steps.join(', ')})`);
  }
  for (const node of state.nodes.values()) {
    for (const task of node.allocations.keys()) {
      if (state.jobs.get(task.split('.')[0] ?? '') === undefined) problems.push(`${node.name} still holds ${task}`);
    }
  }
  return problems;
}
