import type { Fact } from '../../core/fact.ts';
import { builtInSettings, type Settings } from '../../core/profile/settings.ts';
import { genesisHash, type StoredBatch, sealBatch } from '../../log/batch.ts';
import { createHistory, type History } from '../history.ts';
import { createTruth, type TrueProcess, type TrueSignal } from '../truth.ts';
import { virtualHash } from '../virtual-hash.ts';
import { checkers } from './all.ts';
import { check } from './checker.ts';

export const digests = { sha256: virtualHash, sha256File: () => Promise.resolve(null), timingSafeEqual: Object.is };
export const key = { job: 'a-1', index: 0, rank: 0, attempt: 1 };
export const attempt = 'a-1.0.0.1';

export function submitted(job: string, settings: Partial<Settings> = {}): Fact {
  const [name = ''] = job.split('-');
  const spec = { name, run: 'true', setup: null, workspace: null, outputs: ['out'], env: {}, args: [] };
  const about = { job, name, project: 'default', owner: 'someone', spec, source: null, profile: null, workspace: null };
  const merged = { ...builtInSettings, ...settings };
  return { kind: 'JobSubmitted', ...about, settings: merged, origins: {}, retryOf: null, indices: null, service: null };
}

export const joined = {
  kind: 'NodeJoined',
  node: 'n',
  instance: 'i',
  bootId: 'b',
  capacity: { cpus: 2, memoryMiB: 100, gpus: [], labels: {} },
  advertise: '',
  platform: 'linux',
  version: '0',
  leased: false,
} satisfies Fact;

export function placed(job: string, more: { cpus?: number; devices?: string[]; attempt?: number } = {}): Fact {
  const task = { node: 'n', devices: more.devices ?? [], cpus: more.cpus ?? 1, memoryMiB: 0 };
  return { kind: 'AttemptPlaced', job, index: 0, attempt: more.attempt ?? 1, tasks: [task] };
}

export const gaveUp = { kind: 'GaveUp', ...key, message: 'failed 3 times in a row; the last: x' } satisfies Fact;
export const restartedFact = (restarts: number): Fact => ({ kind: 'Restarted', ...key, restarts, lastFailure: '' });
export const outcome = { reason: 'exit', exitCode: 0, signal: null, message: '' } as const;
export const ready: Fact = { kind: 'NodeReady', ...key };
export const exited: Fact = { kind: 'JobExited', ...key, exitCode: 0, signal: null, detail: null };
export const collected: Fact = {
  kind: 'OutputsCollected',
  ...key,
  outputs: [],
  manifest: null,
  exitCode: 0,
  signal: null,
};
export const attemptEnded: Fact = { kind: 'AttemptEnded', job: 'a-1', index: 0, attempt: 1, outcome, retryAtMs: null };
export const jobEnded: Fact = { kind: 'JobEnded', job: 'a-1', outcome };
export const archived: Fact = { kind: 'JobArchived', job: 'a-1' };
export const wholeLife = [
  joined,
  submitted('a-1'),
  placed('a-1'),
  ready,
  exited,
  collected,
  attemptEnded,
  jobEnded,
  archived,
];

/** One batch a fact, sealed as the log does it. */
export function seal(facts: readonly Fact[], nowMs: (index: number) => number = (index) => index): StoredBatch[] {
  const batches: StoredBatch[] = [];
  let previousHash = genesisHash;
  for (const [index, fact] of facts.entries()) {
    const time = { nowMs: nowMs(index), atMs: index, bootId: 'b', bootMs: nowMs(index) };
    const where = { seq: index + 1, lastSeq: index + 1, id: String(index), format: 1, previousHash };
    const batch = sealBatch(digests, { ...time, ...where, factsText: JSON.stringify([fact]) });
    previousHash = batch.hash;
    batches.push(batch);
  }
  return batches;
}

export const runOf = (more: Partial<TrueProcess> = {}): TrueProcess => ({
  attempt,
  label: 'run',
  role: 'command',
  node: 'n',
  machine: 'm',
  devices: [],
  port: null,
  secrets: {},
  serves: null,
  startMs: 0,
  startSeq: 0,
  openSeq: null,
  heardSeq: null,
  endMs: 10,
  endSeq: null,
  exit: { code: 0, signal: null },
  ...more,
});

export const signalOf = (more: Partial<TrueSignal> = {}): TrueSignal => ({
  atMs: 5,
  seq: 4,
  by: 'n',
  signal: 'SIGTERM',
  role: 'command',
  pid: 1,
  attempt,
  isSweep: false,
  ...more,
});

export function history(facts: readonly Fact[] = wholeLife, change: (history: History) => void = () => {}): History {
  const truth = createTruth(() => 0);
  truth.processes.push(runOf());
  const made = createHistory(truth);
  made.batches = seal(facts);
  change(made);
  return made;
}

/** Ids of the promises that a history breaks. */
export function broken(made: History): readonly string[] {
  return [...new Set(check(made, checkers).map((problem) => problem.split(':', 1)[0] ?? ''))].sort();
}

export const answered = (job: string): History['answers'][number] => ({
  key: 'k',
  name: 'a',
  answer: { kind: 'submitted', job },
});
export const other = { attempt: 'a-1.0.0.2' };

export const startedNow: Fact = { ...key, kind: 'JobStarted', port: 1 };
export const readyNow: Fact = { ...key, kind: 'ReadinessChanged', ready: true, reason: null };
