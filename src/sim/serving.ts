/** What a command that serves does with its port, and how its runs end. */
export interface Serving {
  /** How long its runs last, in milliseconds, by the runs of the attempt; the last one for all further runs. */
  readonly runsMs: readonly number[];
  /** Exit code of a run that ends by itself. */
  readonly exitCode: number;
  /** It listens so long after its start; null never. */
  readonly opensMs: number | null;
  /** It listens on a port of its own choice. */
  readonly elsewhere: boolean;
  /** What it answers once it listens, each for a while, again and again. */
  readonly cycle: readonly { readonly forMs: number; readonly answer: PortAnswer }[];
  /** There is no such program: every run ends at once. */
  readonly missing: boolean;
}

/** `hang` accepts and never answers; `closed` accepts nothing. */
export type PortAnswer = 'ok' | 'error' | 'hang' | 'closed';

/** What one who asks gets, so long after the start of a run. */
export function answerAt(serving: Serving, sinceStartMs: number): PortAnswer {
  const { opensMs, cycle } = serving;
  if (opensMs === null || sinceStartMs < opensMs) return 'closed';
  const wholeMs = cycle.reduce((sum, { forMs }) => sum + forMs, 0);
  let leftMs = wholeMs > 0 ? (sinceStartMs - opensMs) % wholeMs : 0;
  for (const { forMs, answer } of cycle) {
    if (leftMs < forMs) return answer;
    leftMs -= forMs;
  }
  return 'ok';
}

/** How long the n-th run (from 1) of an attempt lasts. */
export function runLengthMs(serving: Serving, run: number): number {
  return serving.runsMs[Math.min(run, serving.runsMs.length) - 1] ?? 0;
}

/** Whether it gave nothing but right answers in a span of time since its start, both in milliseconds. */
export function wasWell(serving: Serving, fromMs: number, toMs: number): boolean {
  return answersIn(serving, fromMs, toMs).every((answer) => answer === 'ok');
}

/** Whether it gave no right answer in a span of time; one that reaches to before its start says nothing. */
export function wasIll(serving: Serving, fromMs: number, toMs: number): boolean {
  return fromMs >= 0 && answersIn(serving, fromMs, toMs).every((answer) => answer !== 'ok');
}

const lookEveryMs = 100;

function answersIn(serving: Serving, fromMs: number, toMs: number): readonly PortAnswer[] {
  const answers: PortAnswer[] = [];
  for (let atMs = Math.max(0, fromMs); atMs <= toMs; atMs += lookEveryMs) answers.push(answerAt(serving, atMs));
  return answers;
}

/** Exit code of what finds its port taken by somebody else. */
export const portTakenCode = 98;
