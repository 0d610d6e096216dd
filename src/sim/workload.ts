import type { JobSpec, Script } from '../core/job/spec.ts';
import type { OnNodeLoss, PartialSettings } from '../core/profile/settings.ts';
import { type Child, type Program, writeProgram } from './program.ts';
import type { Random } from './random.ts';

/** One submission that somebody means to make, until it has been answered. The key makes a repetition harmless. */
export interface Intent {
  readonly key: string;
  readonly spec: JobSpec;
  readonly settings: PartialSettings;
  isAnswered: boolean;
}

/** What the jobs of a seed are like. */
export interface WorkloadKind {
  /** No command lasts longer. */
  readonly longestMs: number;
  readonly mostJobs: number;
  /** How many of their commands hang at their end, and cannot be killed before, from 0 to 1. */
  readonly stuckShare: number;
  /** How many of the jobs use GPUs, from 0 to 1. */
  readonly gpuShare: number;
  /** Each as often as it stands here. */
  readonly onNodeLoss: readonly OnNodeLoss[];
}

const usualWorkload: WorkloadKind = {
  longestMs: 20_000,
  mostJobs: 16,
  stuckShare: 0.1,
  gpuShare: 0.3,
  onNodeLoss: ['replace', 'replace', 'wait', 'fail'],
};

/** What will be submitted in one seed. */
export function drawWorkload(random: Random, kind: WorkloadKind = usualWorkload): Intent[] {
  const count = 3 + random.below(kind.mostJobs - 2);
  return Array.from({ length: count }, (_, number) => drawIntent(random, `k${number}`, kind));
}

/** One of them. */
export function drawIntent(random: Random, key: string, kind: WorkloadKind = usualWorkload): Intent {
  const outputs = random.happens(0.3) ? ['out.txt'] : [];
  const run = drawProgram(random, kind, random.happens(0.8) ? outputs : []);
  const setup = random.happens(0.3) ? drawProgram(random, { ...kind, longestMs: 3000 }, []) : null;
  const spec: JobSpec = {
    name: key,
    run: asScript(random, run),
    setup: setup === null ? null : asScript(random, setup),
    workspace: random.happens(0.25) ? { workdir: '.', exclude: [] } : null,
    outputs,
    env: { KEY: key },
    args: [],
  };
  return { key, spec, settings: drawSettings(random, kind), isAnswered: false };
}

function asScript(random: Random, program: Program): Script {
  const text = writeProgram(program);
  return random.happens(0.5) ? text : ['a-program', text];
}

function drawProgram(random: Random, { longestMs, stuckShare }: WorkloadKind, writes: readonly string[]): Program {
  const { happens, between, pick } = random;
  return {
    lastsMs: Math.round(longestMs * random.fraction() ** 3) + 1,
    codes: pick([[0], [0], [0], [1], [7, 0], [7, 7, 0], [3]]),
    dies: happens(0.05) ? pick([9, 11, 15]) : null,
    onTerm: pick(['die', 'die', 'leave', 'ignore'] as const),
    children: happens(0.25) ? Array.from({ length: 1 + random.below(2) }, () => drawChild(random)) : [],
    writes,
    stuckMs: happens(stuckShare) ? Math.round(between(1000, 150_000)) : 0,
    serves: null,
  };
}

function drawChild({ happens, between }: Random): Child {
  return {
    lastsMs: Math.round(between(1, 40_000)),
    leaves: happens(0.4),
    scrubbed: happens(0.3),
    ignoresTerm: happens(0.4),
  };
}

function drawSettings(random: Random, kind: WorkloadKind): PartialSettings {
  const { happens, between, pick } = random;
  return {
    nodes: happens(0.1) ? 2 : 1,
    resources: {
      cpus: happens(0.04) ? 100 : pick([0.5, 1, 1, 2, 3]),
      gpus: happens(kind.gpuShare) ? pick([1, 1, 2, 'all'] as const) : 0,
      memoryMiB: happens(0.3) ? pick([100, 2000, 6000]) : null,
    },
    timeoutMs: happens(0.2) ? Math.round(between(500, 15_000)) : null,
    graceMs: pick([0, 500, 3000]),
    retry: { maxAttempts: pick([1, 2, 3, 5]), onExit: happens(0.6) ? [7, 137] : [] },
    array: happens(0.25) ? { size: 1 + random.below(6), maxRunning: happens(0.5) ? 1 + random.below(3) : null } : null,
    onNodeLoss: pick(kind.onNodeLoss),
    priority: random.below(3),
    port: happens(0.2),
  };
}
