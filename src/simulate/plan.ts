import type { SettingsLayer } from '../core/profile/settings.ts';

/** What is to be simulated: a cluster, the work that comes to it, and how far to go. Times are milliseconds after the start. */
export interface Plan {
  /** What it was read from, for people. */
  readonly title: string;
  /** Wall clock of the start, Unix milliseconds; null where the files name no date. */
  readonly startMs: number | null;
  /** Nothing after it is looked at; null goes on until the work is done. */
  readonly untilMs: number | null;
  readonly seed: number;
  readonly nodes: readonly NodeGroup[];
  readonly work: readonly Work[];
  /** Single jobs with times of their own, by arrival. */
  readonly trace: readonly TracedJob[];
  /** What a reader of the answer must know of the input. */
  readonly notes: readonly string[];
}

/** Machines of one kind. */
export interface NodeGroup {
  /** `h100-%d`; `%d` is the number from 1. */
  readonly name: string;
  /** What each is called where they are real ones; null: by the number. */
  readonly names: readonly string[] | null;
  readonly count: number;
  readonly cpus: number;
  readonly memoryMiB: number;
  readonly gpus: number;
  readonly gpuType: string;
  readonly gpuMemoryMiB: number;
  readonly labels: Readonly<Record<string, string>>;
  readonly fromMs: number;
  /** Takes no new work from then on, and leaves when it is empty. */
  readonly untilMs: number | null;
  /** Mean time of one node between failures, and until it is back. */
  readonly failures: { readonly everyMs: number; readonly repairMs: number } | null;
}

/** Work of one kind that comes again and again. */
export interface Work {
  readonly name: string;
  readonly kind: 'job' | 'service';
  readonly layers: readonly SettingsLayer[];
  readonly atMs: number;
  /** Between two arrivals; null: all at once. */
  readonly every: Spread | null;
  /** Null: until the end of the simulation. */
  readonly count: number | null;
  /** How long it runs; null: for ever. */
  readonly runs: Spread | null;
  readonly exit: Exit;
}

/** One job with what it really did. */
export interface TracedJob {
  readonly name: string;
  readonly atMs: number;
  readonly layers: readonly SettingsLayer[];
  /** By part of an array; the last one stands for those after it. */
  readonly runsMs: readonly number[];
  /** 0: it ends well. */
  readonly exitCode: number;
}

/** A time: always the same, or drawn between two ends with this mean. */
export interface Spread {
  readonly minMs: number;
  readonly meanMs: number;
  readonly maxMs: number;
}

/** What share fails, and with which code. */
export interface Exit {
  readonly share: number;
  readonly code: number;
}
