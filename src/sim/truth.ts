import type { Label } from '../agent/records.ts';
import type { Signal } from '../host/processes.ts';
import type { Role } from './process-table.ts';
import type { Serving } from './serving.ts';

/** One process of an attempt, as it truly ran. */
export interface TrueProcess {
  readonly attempt: string;
  readonly label: Label;
  readonly role: 'command' | 'child';
  readonly node: string;
  readonly machine: string;
  readonly devices: readonly string[];
  readonly port: number | null;
  /** What it got of secrets, by their names: the values themselves, or what stood in their files. */
  readonly secrets: Readonly<Record<string, string>>;
  /** What it does with its port; null for what only runs to its end. */
  readonly serves: Serving | null;
  readonly startMs: number;
  endMs: number | null;
  /** Facts that the log held at its start. */
  readonly startSeq: number;
  /** Facts that the log held when it began to listen on its own port; null as long as it does not. */
  openSeq: number | null;
  /** Facts that the log held when all had been told that was asked before; null as long as that may not be so. */
  heardSeq: number | null;
  /** Facts that the log held at its end; null while it runs or when the power went. */
  endSeq: number | null;
  /** How it ended: by itself with a code, or by a signal's number; null while it runs or when the power went. */
  exit: { readonly code: number | null; readonly signal: number | null } | null;
}

/** One signal of ours that reached a process. */
export interface TrueSignal {
  readonly atMs: number;
  /** Facts that the log held then. */
  readonly seq: number;
  readonly by: string;
  readonly signal: Signal;
  readonly role: Role;
  readonly pid: number;
  /** The attempt whose process it was; null when it was nobody's of ours. */
  readonly attempt: string | null;
  /** The attempt's command had ended by then, or its shim had: its tree is swept. */
  readonly isSweep: boolean;
}

export interface Launched {
  readonly attempt: string;
  readonly label: Label;
  readonly port: number | null;
  readonly atMs: number;
}

/** What really happened, kept apart from all that the control plane believes. */
export interface Truth {
  /** Number of facts in the log now. */
  readonly logSeq: () => number;
  readonly processes: TrueProcess[];
  readonly signals: TrueSignal[];
  /** Attempts whose shim or process was struck before it could say what it did, and nodes whose machine was: they may fault. */
  readonly troubled: Set<string>;
  /** When agents launched a shim for an attempt, and with which port, in order. */
  readonly launches: Launched[];
  /** What the commands of an attempt have printed, by its name and `run.out` or the like. */
  readonly printed: Map<string, string>;
}

export function createTruth(logSeq: () => number): Truth {
  return { logSeq, processes: [], signals: [], launches: [], troubled: new Set(), printed: new Map() };
}

/** When an agent first launched something of the attempt; null when none did. */
export function firstLaunchMs(truth: Truth, attempt: string): number | null {
  return truth.launches.find((one) => one.attempt === attempt)?.atMs ?? null;
}

/** A mark is the node's name and the attempt's. */
export function attemptOfMark(mark: string): string {
  const start = mark.indexOf('/') + 1;
  const end = mark.indexOf('/', start);
  return start === 0 ? '' : mark.slice(start, end < 0 ? undefined : end);
}

/** A run of the task's own command. */
export function isRun({ label, role }: Pick<TrueProcess, 'label' | 'role'>): boolean {
  return label === 'run' && role === 'command';
}
