/**
 * The life of a job, as the table that the code runs (S3).
 *
 * A task stands at one step at a time. An event is taken only at the steps its row names; at a later step it is a
 * repetition and changes nothing, at an earlier one it is ignored. The node is told the step that follows, never what
 * to do next after that: orders are level-triggered.
 */

/** Where a task stands. `claimed`: placed, but its node has not been seen ready since. */
export const steps = ['claimed', 'materialize', 'setup', 'prepare', 'run', 'collect', 'ended'] as const;
export type Step = (typeof steps)[number];

/** What the node is asked to do at each step. */
export const orderNames = {
  materialize: 'MaterializeWorkspace',
  setup: 'RunSetup',
  prepare: 'Prepare',
  run: 'RunJob',
  collect: 'CollectOutputs',
} as const satisfies Partial<Record<Step, string>>;

/** What an event does to the task it is about. */
export interface Transition {
  /** Steps at which the event is news. */
  readonly at: readonly Step[];
  /** The next step, before steps that the job has no use for are skipped. */
  readonly to: Step;
  /** Whether the event decides how the attempt ends. */
  readonly decides: 'no' | 'failure' | 'by-exit';
  /** A process may still run and is stopped before outputs are collected. */
  readonly stopsFirst: boolean;
}

const beforeRunEnds = ['claimed', 'materialize', 'setup', 'prepare', 'run'] as const;
const beforeEnd = [...beforeRunEnds, 'collect'] as const;

export const transitions = {
  NodeReady: { at: ['claimed'], to: 'materialize', decides: 'no', stopsFirst: false },
  WorkspaceMaterialized: { at: ['materialize'], to: 'setup', decides: 'no', stopsFirst: false },
  SetupCompleted: { at: ['setup'], to: 'prepare', decides: 'no', stopsFirst: false },
  SetupFailed: { at: ['setup'], to: 'collect', decides: 'failure', stopsFirst: false },
  TaskPrepared: { at: ['prepare'], to: 'run', decides: 'no', stopsFirst: false },
  JobStarted: { at: ['run'], to: 'run', decides: 'no', stopsFirst: false },
  EndpointOpened: { at: ['run'], to: 'run', decides: 'no', stopsFirst: false },
  ReadinessChanged: { at: ['run'], to: 'run', decides: 'no', stopsFirst: false },
  Restarted: { at: ['run'], to: 'run', decides: 'no', stopsFirst: false },
  JobExited: { at: ['run'], to: 'collect', decides: 'by-exit', stopsFirst: false },
  OperatorStop: { at: [...beforeRunEnds], to: 'collect', decides: 'failure', stopsFirst: true },
  TimedOut: { at: [...beforeRunEnds], to: 'collect', decides: 'failure', stopsFirst: true },
  Evicted: { at: [...beforeRunEnds], to: 'collect', decides: 'failure', stopsFirst: true },
  GaveUp: { at: ['run'], to: 'collect', decides: 'failure', stopsFirst: true },
  OutputsCollected: { at: ['collect'], to: 'ended', decides: 'no', stopsFirst: false },
  NodeFault: { at: [...beforeEnd], to: 'ended', decides: 'failure', stopsFirst: false },
  NodeLost: { at: [...beforeEnd], to: 'ended', decides: 'failure', stopsFirst: false },
} as const satisfies Record<string, Transition>;

export type TaskEventKind = keyof typeof transitions;

/** What people see (U1), and every move between the four. The dashboard and the docs draw this. */
export const jobMoves = {
  PENDING: ['RUNNING', 'FAILED'],
  RUNNING: ['PENDING', 'COMPLETED', 'FAILED'],
  COMPLETED: [],
  FAILED: [],
} as const satisfies Record<string, readonly string[]>;

export type JobState = keyof typeof jobMoves;

/** What a task of this job passes through at all: what is not needed is skipped (S6). */
export interface StepNeeds {
  readonly workspace: boolean;
  readonly setup: boolean;
  /** Ranks wait for each other before any of them runs. */
  readonly barrier: boolean;
  readonly outputs: boolean;
}

/** The step itself, or the first after it that this job has a use for. */
export function skipTo(step: Step, needs: StepNeeds, mustStop: boolean): Step {
  if (step === 'materialize' && !needs.workspace) return skipTo('setup', needs, mustStop);
  if (step === 'setup' && !needs.setup) return skipTo('prepare', needs, mustStop);
  if (step === 'prepare' && !needs.barrier) return 'run';
  if (step === 'collect' && !needs.outputs && !mustStop) return 'ended';
  return step;
}

/** Whether an event is news at this step, a repetition of what is known, or too early to be true. */
export function judgeEvent(kind: TaskEventKind, step: Step): 'news' | 'repetition' | 'early' {
  const { at } = transitions[kind];
  if ((at as readonly Step[]).includes(step)) return 'news';
  const earliest = Math.min(...at.map((one) => steps.indexOf(one)));
  return steps.indexOf(step) < earliest ? 'early' : 'repetition';
}
