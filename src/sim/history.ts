import type { Answer, Command } from '../core/command.ts';
import type { Refusal } from '../core/refusal.ts';
import type { StoredBatch } from '../log/batch.ts';
import type { Hearing } from './served/hearing.ts';
import type { PushedLogs } from './served/pushed-logs.ts';
import type { Truth } from './truth.ts';

/** What one run of a seed left, for the checkers to judge. */
export interface History {
  /** The log, as it is stored. */
  batches: readonly StoredBatch[];
  readonly truth: Truth;
  /** Every answer that a client got to a submission, with its idempotency key. */
  readonly answers: SubmissionAnswer[];
  /** What control planes of different processes held at some moments. */
  readonly samples: StateSample[];
  /** Commands decided twice on one state. */
  readonly decisions: TwiceDecided[];
  /** Names of nodes whose home was copied to another machine. */
  readonly cloned: Set<string>;
  /** Every sudden fault, when it struck. */
  readonly struck: { readonly atMs: number; readonly kind: string }[];
  /** Kinds of faults that have struck. */
  readonly faults: Set<string>;
  /** Every refusal that a client or an agent got. */
  readonly refusals: Refusal[];
  /** What was said by those who had no right to. */
  readonly rogues: RogueAnswer[];
  /** Errors that no fault of the outside explains. */
  readonly bugs: string[];
  /** Directories of attempts that agents still kept as alive when everything had come to rest. */
  readonly leftovers: string[];
  /** Every new revision that a client was told of. */
  readonly applied: { readonly service: string; readonly revision: number }[];
  /** Endpoints that were listed while nothing of the service was behind them. */
  readonly deadEndpoints: DeadEndpoint[];
  /** What kept the services from standing as they should, long after the world had healed. */
  readonly unsettled: string[];
  /** Of whom servers heard; null where there is no server. */
  hearing: Hearing | null;
  /** Logs as the server has them, by attempt and file; null where logs stay on the nodes. */
  logs: PushedLogs | null;
  /** What was due at a server and did not happen. */
  readonly overdue: string[];
  /** Facts in the log while nothing but healthy services was left, and a while later; null when there was no such while. */
  steady: { readonly startSeq: number; readonly endSeq: number } | null;
  /** Facts in the log when everything had come to rest, and after some minutes more; null when it never did. */
  rest: { readonly startSeq: number; readonly endSeq: number } | null;
}

export interface SubmissionAnswer {
  readonly key: string;
  /** Name of the job, which no other submission has. */
  readonly name: string;
  readonly answer: Answer | Refusal;
}

export interface StateSample {
  readonly who: string;
  readonly seq: number;
  readonly hash: string;
}

export interface TwiceDecided {
  readonly kind: Command['kind'];
  readonly isEqual: boolean;
  readonly changedState: boolean;
  readonly threw: string | null;
}

export interface RogueAnswer {
  readonly what: string;
  readonly expected: string;
  /** Code of the refusal; null when it was accepted. */
  readonly code: string | null;
}

export interface DeadEndpoint {
  readonly service: string;
  readonly endpoint: string;
  /** For how long nothing had been behind it; infinite when nothing ever was. */
  readonly deadMs: number;
  /** How long that may be until it must have been noticed and told. */
  readonly allowedMs: number;
}

export function createHistory(truth: Truth): History {
  return {
    batches: [],
    truth,
    answers: [],
    samples: [],
    decisions: [],
    cloned: new Set(),
    struck: [],
    faults: new Set(),
    refusals: [],
    rogues: [],
    bugs: [],
    leftovers: [],
    applied: [],
    deadEndpoints: [],
    unsettled: [],
    hearing: null,
    logs: null,
    overdue: [],
    steady: null,
    rest: null,
  };
}
