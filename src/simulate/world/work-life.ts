import type { Command, SubmitJob } from '../../core/command.ts';
import type { Fact } from '../../core/fact.ts';
import type { TaskEvent } from '../../core/job/facts.ts';
import type { JobSpec } from '../../core/job/spec.ts';
import type { SettingsLayer } from '../../core/profile/settings.ts';
import type { Work } from '../plan.ts';
import { type Arrival, streamsOf } from './arrivals.ts';
import type { Event, Parts, WorkEvent } from './events.ts';
import { afterExit, beginProcess, endingOf, type Process, processName } from './processes.ts';
import { attend, isAtRun, Reports, touchedBy } from './virtual-agents.ts';

interface Origin {
  readonly arrival: Arrival;
  readonly label: string;
}

/** The life of the work: it is submitted, runs where the core has placed it, and ends. */
export class WorkLife {
  readonly #parts: Parts;
  readonly #reports: Reports;
  /** What runs, by attempt. */
  readonly #processes = new Map<string, Process>();
  /** What jobs that are alive came from. */
  readonly #origins = new Map<string, Origin>();
  readonly #services = new Map<string, Work>();
  readonly #drawn = new Map<string, number>();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#reports = new Reports(parts.cluster);
  }

  start(): void {
    for (const stream of streamsOf(this.#parts.plan, this.#parts.draws)) {
      if (stream.nextMs !== null) this.#parts.add(stream.nextMs, { kind: 'arrival', stream }, 'yes');
    }
  }

  /** `train-12`: readable, the same in every run, and never the id of another job. */
  drawId(name: string): string {
    const number = (this.#drawn.get(name) ?? 0) + 1;
    this.#drawn.set(name, number);
    return `${name}-${number}`;
  }

  /** Attempts that run there, for a node that comes back and finds their records. */
  begunOn(node: string): readonly Process[] {
    return [...this.#processes.values()].filter(({ nodes }) => nodes.includes(node));
  }

  commandsOf(event: WorkEvent, nowMs: number): readonly Command[] {
    switch (event.kind) {
      case 'arrival': {
        const arrival = event.stream.take();
        if (event.stream.nextMs !== null) this.#parts.add(event.stream.nextMs, event, 'yes');
        return [this.#submit(arrival)];
      }
      case 'exit':
        if (this.#runs(event.process)) this.#end(event.process, event.code, nowMs);
        break;
      case 'restart':
        if (this.#runs(event.process)) this.#begin(event.process, nowMs, true);
        break;
    }
    return this.#reports.take();
  }

  /** What nodes do about what became true: they start, stop and collect. */
  follow(facts: readonly Fact[], nowMs: number): readonly Command[] {
    for (const fact of facts) this.#noteJob(fact);
    for (const [id, index] of touchedBy(facts, this.#parts.state).values()) this.#look(id, index, nowMs);
    return this.#reports.take();
  }

  #noteJob(fact: Fact): void {
    if (fact.kind === 'JobArchived') this.#origins.delete(fact.job);
    if (fact.kind === 'AttemptEnded') this.#processes.delete(processName(fact));
    if (fact.kind !== 'JobSubmitted' || fact.service === null) return;
    const work = this.#services.get(fact.service.name);
    if (work === undefined) return;
    const label = `${fact.name}.${fact.service.index}.${this.#drawn.get(fact.name) ?? 0}`;
    this.#origins.set(fact.job, { arrival: { kind: 'work', work, ordinal: fact.service.index }, label });
  }

  #look(id: string, index: number, nowMs: number): void {
    const job = this.#parts.state.jobs.get(id);
    const element = job?.elements.get(index);
    const origin = this.#origins.get(id);
    if (job === undefined || element?.kind !== 'live' || origin === undefined) return;
    attend(job, index, element, this.#reports);
    const name = processName({ job: id, index, attempt: element.attempt });
    if (!isAtRun(element)) {
      // Told to stop, or a rank of it has failed: nothing of it runs on.
      if (element.verdict !== null) this.#processes.delete(name);
      return;
    }
    if (this.#processes.has(name)) return;
    const process = beginProcess(job, index, element, origin, nowMs);
    this.#processes.set(name, process);
    this.#begin(process, nowMs, false);
  }

  #begin(process: Process, nowMs: number, again: boolean): void {
    const job = this.#parts.state.jobs.get(process.job);
    if (job === undefined) return;
    const { settings } = job;
    process.startedMs = nowMs;
    if (settings.kind === 'service') this.#tellServing(process, again);
    const ending = endingOf(process, settings.timeoutMs, this.#parts.draws);
    if (ending === null) return;
    const code = ending.kind === 'exit' ? ending.code : null;
    const isEndless = settings.restart.policy !== 'never' && job.service !== null;
    this.#parts.add(nowMs + ending.afterMs, { kind: 'exit', process, code }, isEndless ? 'no' : 'yes');
  }

  /** It is ready as soon as it runs. */
  #tellServing(process: Process, again: boolean): void {
    const { history } = process;
    const restarted = { kind: 'Restarted', restarts: history.restarts, lastFailure: 'it exited' } as const;
    this.#tell(process, [
      ...(again ? [restarted] : [{ kind: 'JobStarted', port: 1 } as const]),
      { kind: 'ReadinessChanged', ready: true, reason: null },
    ]);
  }

  #end(process: Process, code: number | null, nowMs: number): void {
    const job = this.#parts.state.jobs.get(process.job);
    if (job === undefined) return;
    if (code === null) {
      this.#tell(process, [{ kind: 'TimedOut', timeoutMs: job.settings.timeoutMs ?? 0 }]);
      return;
    }
    const { decision, message } = afterExit(process, job, code, nowMs);
    switch (decision.kind) {
      case 'restart': {
        this.#tell(process, [{ kind: 'ReadinessChanged', ready: false, reason: message }]);
        const event: Event = { kind: 'restart', process };
        this.#parts.add(nowMs + decision.delayMs, event, job.service === null ? 'yes' : 'no');
        break;
      }
      case 'give-up':
        this.#tell(process, [{ kind: 'GaveUp', message: decision.message }]);
        break;
      case 'end':
        this.#tell(process, [{ kind: 'JobExited', exitCode: code, signal: null, detail: null }]);
        break;
    }
  }

  #runs(process: Process): boolean {
    const isSilent = process.nodes.some((node) => this.#parts.cluster.isSilent(node));
    return !isSilent && this.#processes.get(processName(process)) === process;
  }

  /** Every rank says the same. */
  #tell({ job, index, attempt, nodes }: Process, events: readonly TaskEvent[]): void {
    for (const [rank, node] of nodes.entries()) {
      for (const event of events) this.#reports.tell(node, { job, index, rank, attempt, ...event });
    }
  }

  #submit(arrival: Arrival): Command {
    const { name, layers } = arrival.kind === 'work' ? arrival.work : arrival.job;
    const what = { spec: specOf(name), source: { job: { name } }, profile: null, layers, workspace: null };
    const whose = { project: 'default', owner: 'simulated' };
    if (arrival.kind === 'work' && arrival.work.kind === 'service') {
      this.#services.set(name, arrival.work);
      return { kind: 'ApplyService', ...what, ...whose };
    }
    const id = this.drawId(name);
    this.#origins.set(id, { arrival, label: id });
    return submission(id, what, whose);
  }
}

function submission(
  id: string,
  what: { spec: JobSpec; source: unknown; profile: null; layers: readonly SettingsLayer[]; workspace: null },
  whose: { project: string; owner: string },
): SubmitJob {
  return { kind: 'SubmitJob', ...what, ...whose, retryOf: null, indices: null, ids: [id] };
}

function specOf(name: string): JobSpec {
  return { name, run: 'true', setup: null, workspace: null, outputs: [], env: {}, args: [] };
}
