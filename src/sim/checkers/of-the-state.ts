import type { Fact } from '../../core/fact.ts';
import { findTask, taskKeyText } from '../../core/job/job.ts';
import { judgeEvent, type TaskEventKind, transitions } from '../../core/job/lifecycle.ts';
import { freeCapacity } from '../../core/node/node.ts';
import type { Checker } from './checker.ts';

type TaskFactOf = Extract<Fact, { readonly rank: number }>;

/** What the control plane's own state and facts promise. */
export const stateCheckers: readonly Checker[] = [
  {
    id: 'I8',
    says: 'a GPU belongs to one attempt at most',
    open: (_history, report) => ({
      afterBatch: (state, { lastSeq }) => {
        for (const node of state.nodes.values()) {
          const owners = new Map<string, string>();
          for (const [task, { devices }] of node.allocations) {
            for (const device of devices) {
              const owner = owners.get(device);
              if (owner !== undefined) report(`${device} belongs to ${owner} and ${task} after fact ${lastSeq}`);
              owners.set(device, task);
            }
          }
        }
      },
    }),
  },
  {
    id: 'I10',
    says: 'no more is given away than there is',
    open: (_history, report) => ({
      afterBatch: (state, { lastSeq }) => {
        for (const node of state.nodes.values()) {
          const { cpus, memoryMiB } = freeCapacity(node);
          if (cpus < -1e-9 || memoryMiB < 0) {
            report(`${node.name} has ${cpus} cores and ${memoryMiB} MiB left after fact ${lastSeq}`);
          }
        }
      },
    }),
  },
  {
    id: 'I13',
    says: 'what has ended stays ended',
    open: (_history, report) => {
      const ended = new Set<string>();
      return {
        beforeFact: (fact) => {
          if (!('job' in fact)) return;
          const element = 'index' in fact ? `${fact.job}.${fact.index}` : fact.job;
          const isOver = ended.has(fact.job) || ended.has(element);
          if (isOver && fact.kind !== 'JobArchived') report(`${fact.kind} about ${element}, which has ended`);
          if (fact.kind === 'JobEnded') ended.add(fact.job);
          if (fact.kind === 'AttemptEnded' && fact.retryAtMs === null) ended.add(element);
        },
      };
    },
  },
  {
    id: 'I14',
    says: 'nobody is heard about what is not his, or not any more',
    open: ({ rogues }, report) => ({
      beforeFact: (fact, state) => {
        if (!isTaskFact(fact)) return;
        // Looked up here and not by the core's own way, which is what is judged.
        const element = state.jobs.get(fact.job)?.elements.get(fact.index);
        const task =
          element?.kind === 'live' && element.attempt === fact.attempt ? element.tasks[fact.rank] : undefined;
        if (task === undefined) report(`${fact.kind} of ${taskKeyText(fact)}, which is not the current attempt`);
        else if (judgeEvent(fact.kind, task.step) !== 'news') {
          report(`${fact.kind} of ${taskKeyText(fact)}, which stands at ${task.step}`);
        }
      },
      finish: () => {
        for (const { what, expected, code } of rogues) {
          if (code === null || !expected.split(' ').includes(code)) {
            report(`a report of ${what} was answered with ${code ?? 'thanks'}, expected ${expected}`);
          }
        }
      },
    }),
  },
  {
    id: 'I15',
    says: 'outputs come once, and from the current attempt',
    open: (_history, report) => {
      const published = new Set<string>();
      return {
        beforeFact: (fact, state) => {
          if (fact.kind !== 'OutputsCollected') return;
          const key = taskKeyText(fact);
          const task = findTask(state.jobs.get(fact.job), fact)?.task;
          if (published.has(key)) report(`those of ${key} came twice`);
          if (task?.step !== 'collect') report(`those of ${key} came while it stood at ${task?.step ?? 'nothing'}`);
          published.add(key);
        },
      };
    },
  },
];

function isTaskFact(fact: Fact): fact is TaskFactOf & { readonly kind: TaskEventKind } {
  return 'rank' in fact && fact.kind in transitions;
}
