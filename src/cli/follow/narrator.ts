import type { JobView } from '../../core/job/view.ts';
import type { NodeView } from '../../core/node/view.ts';
import { describeDuration } from '../../core/units.ts';
import type { Output, StatusLine } from '../output/output.ts';
import { type Phase, phaseOf } from './phase.ts';

const sayWaitingAfterMs = 1000;

/** Tells the way of one job, a line for each thing that became true. */
export interface Narrator {
  /** `nodeOf` answers for the node a task is on; it is asked only for the line that needs it. */
  see(view: JobView): Promise<void>;
  end(): void;
}

export interface NarratorOptions {
  readonly output: Output;
  /** `Ctrl-C stops it`; null says nothing. */
  readonly hint: string | null;
  readonly nodeOf: (name: string) => Promise<NodeView | null>;
  /** Resolves when what setup printed has been shown, as far as it is known. */
  readonly setupShown: () => Promise<void>;
  /** Monotonic milliseconds. */
  readonly nowMs: () => number;
}

export function createNarrator(options: NarratorOptions): Narrator {
  const { output, nowMs } = options;
  let phase: Phase | null = null;
  let phaseSinceMs = nowMs();
  let timer: ReturnType<typeof setInterval> | null = null;
  let said = '';
  let restarts = 0;

  const stopTimer = (): void => {
    if (timer !== null) clearInterval(timer);
    timer = null;
  };
  const tick = (view: JobView, next: Phase): void => {
    const line = liveLine(view, next, nowMs() - phaseSinceMs);
    output.live(line);
    if (next.kind !== 'waiting' || line === null || next.why === said) return;
    if (nowMs() - phaseSinceMs < sayWaitingAfterMs) return;
    said = next.why;
    output.status({ ...line, tone: 'waiting' });
  };

  const tell = async (view: JobView): Promise<void> => {
    const next = phaseOf(view);
    const count = restartsOf(view);
    if (count > restarts) output.status(restartLine(view, count));
    restarts = count;
    if (JSON.stringify(next) === JSON.stringify(phase)) return;
    const before = phase;
    if (before?.kind !== next.kind) {
      const tookMs = nowMs() - phaseSinceMs;
      phaseSinceMs = nowMs();
      if (before?.kind === 'setup') {
        await options.setupShown();
        output.status(setupLine(view, before.attempt, tookMs));
      }
    }
    if (attemptOf(next) > Math.max(1, attemptOf(before))) output.status(attemptLine(view));
    phase = next;
    stopTimer();
    if (next.kind === 'running' && before?.kind !== 'running') output.status(await runningLine(view, next, options));
    if (next.kind === 'array' && before?.kind !== 'array') output.status(arrayLine(view, options.hint));
    if (next.kind === 'ended' || next.kind === 'running') {
      output.live(null);
      return;
    }
    tick(view, next);
    timer = setInterval(() => tick(view, next), 500);
    timer.unref();
  };
  // One view after the other: the log waits here for the line that says where the job runs.
  let told: Promise<void> = Promise.resolve();
  return {
    see: (view) => {
      told = told.then(() => tell(view));
      return told;
    },
    end() {
      stopTimer();
      output.live(null);
    },
  };
}

function attemptOf(phase: Phase | null): number {
  return phase !== null && 'attempt' in phase ? phase.attempt : 0;
}

function liveLine(view: JobView, phase: Phase, elapsedMs: number): StatusLine | null {
  const { id } = view;
  const document = { kind: 'state', job: id, state: view.state, phase: phase.kind };
  switch (phase.kind) {
    case 'waiting':
      return { id, label: 'waiting', detail: phase.why, document: { ...document, waiting: view.waiting } };
    case 'materialize':
      return { id, label: 'unpacking', detail: `on ${phase.node}`, document };
    case 'setup':
      return { id, label: 'setup', detail: describeDuration(elapsedMs), document };
    case 'collect':
      return { id, label: 'collecting', detail: 'outputs', document };
    case 'array':
      return { id, label: 'running', detail: arrayDetail(phase), document };
    case 'running':
    case 'ended':
      return null;
  }
}

export function arrayDetail({ done, size, failed }: { done: number; size: number; failed: number }): string {
  return `${done} of ${size} done${failed > 0 ? `, ${failed} failed` : ''}`;
}

function setupLine({ id }: JobView, attempt: number, elapsedMs: number): StatusLine {
  const document = { kind: 'setup', job: id, attempt, elapsedMs: Math.round(elapsedMs) };
  return { id, label: 'setup', detail: describeDuration(elapsedMs), document };
}

function attemptLine(view: JobView): StatusLine {
  const cause = view.tasks.find((task) => task.lastFailure !== null)?.lastFailure ?? '';
  const document = { kind: 'attempt', job: view.id, attempt: view.attempt, lastFailure: cause };
  return { id: view.id, label: `attempt ${view.attempt}`, detail: after(cause), tone: 'waiting', document };
}

/** What ended the one before, and not this one. */
function after(cause: string): string {
  return cause === '' ? '' : `after: ${cause}`;
}

/** In place, on its node: the attempt goes on. */
function restartsOf({ tasks }: JobView): number {
  return tasks.reduce((sum, task) => sum + task.restarts, 0);
}

function restartLine({ id, tasks }: JobView, count: number): StatusLine {
  const cause = tasks.find((task) => task.lastFailure !== null)?.lastFailure ?? '';
  const document = { kind: 'restart', job: id, restarts: count, lastFailure: cause };
  return { id, label: `restart ${count}`, detail: after(cause), tone: 'waiting', document };
}

function arrayLine({ id, array }: JobView, hint: string | null): StatusLine {
  const document = { kind: 'state', job: id, state: 'RUNNING', array };
  return { id, label: 'running', detail: `${array?.size ?? 0} tasks`, ...(hint === null ? {} : { hint }), document };
}

async function runningLine(
  view: JobView,
  phase: Extract<Phase, { kind: 'running' }>,
  { hint, nodeOf }: NarratorOptions,
): Promise<StatusLine> {
  const { id } = view;
  const [first = '–'] = phase.nodes;
  const node = phase.nodes.length === 1 ? await nodeOf(first) : null;
  const where = phase.nodes.length === 1 ? first : `${phase.nodes.length} nodes`;
  const document = { kind: 'state', job: id, state: view.state, nodes: phase.nodes, devices: phase.devices };
  const line = { id, label: `running on ${where}`, document };
  const free = node?.free.gpus ?? 0;
  if (phase.devices.length === 0 && free > 0) {
    const are = free === 1 ? '1 is' : `${free} are`;
    return { ...line, detail: `no GPU asked for (${are} free: --gpus 1)` };
  }
  return { ...line, detail: gpuNames(phase.devices, node), ...(hint === null ? {} : { hint }) };
}

/** `gpu 0`, `gpus 0, 1`; how many, where their numbers are not known. */
function gpuNames(devices: readonly string[], node: NodeView | null): string {
  if (devices.length === 0) return '';
  const numbers = devices.map((uuid) => node?.gpus.find((gpu) => gpu.uuid === uuid)?.index);
  if (numbers.includes(undefined)) return `${devices.length} GPU${devices.length === 1 ? '' : 's'}`;
  return `${devices.length === 1 ? 'gpu' : 'gpus'} ${numbers.join(', ')}`;
}
