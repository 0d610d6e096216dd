import { isSuccess, type Outcome } from '../../core/reason.ts';
import { Quantiles } from './quantiles.ts';

/** Names of jobs that are told apart; there are traces with more. */
const mostKinds = 300;
const others = '(others)';

/** Figures of all jobs of one name. */
export class KindFigures {
  readonly name: string;
  jobs = 0;
  /** Parts: each of an array, or the one that any other job has. */
  parts = 0;
  /** From submission to the first placement. */
  readonly waited = new Quantiles();
  /** From placement to the end of an attempt. */
  readonly ran = new Quantiles();
  attempts = 0;
  gpuMs = 0;
  coreMs = 0;
  readonly ended = new Map<string, number>();

  constructor(name: string) {
    this.name = name;
  }

  end(outcome: Outcome): void {
    const how = describeEnd(outcome);
    this.ended.set(how, (this.ended.get(how) ?? 0) + 1);
  }
}

/** `ok`, `exit 75`, or the reason. */
export function describeEnd(outcome: Outcome): string {
  if (isSuccess(outcome)) return 'ok';
  return outcome.reason === 'exit' && outcome.exitCode !== null ? `exit ${outcome.exitCode}` : outcome.reason;
}

/** The figures by name, in the order in which the names came up. */
export class Kinds {
  readonly #kinds = new Map<string, KindFigures>();

  of(name: string): KindFigures {
    const known = this.#kinds.get(name);
    if (known !== undefined) return known;
    if (this.#kinds.size >= mostKinds && name !== others) return this.of(others);
    const kind = new KindFigures(name);
    this.#kinds.set(name, kind);
    return kind;
  }

  all(): readonly KindFigures[] {
    return [...this.#kinds.values()];
  }
}
