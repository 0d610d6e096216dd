import type { NodeReport } from '../core/command.ts';
import type { TaskFact } from '../core/job/facts.ts';
import type { TaskKey } from '../core/job/job.ts';
import type { SharedSecret } from '../core/secrets/command.ts';
import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { AgentChannel } from './channel.ts';

type News = Pick<NodeReport, 'events' | 'released' | 'secrets' | 'shared'>;

/** A start waits this long for company: a job that ends at once then costs one commit, not two. */
const latestStartMs = 20;

/**
 * Sends what happened, in order, many at a time, until it is durable. What is lost with the agent is not lost: the
 * next one reads the same from the records, and a repetition changes nothing.
 */
export class Reporter {
  readonly #channel: AgentChannel;
  readonly #host: Host;
  readonly #onStale: (key: TaskKey) => void;
  #events: TaskFact[] = [];
  #released: TaskKey[] = [];
  /** Names of the secrets that stay on the node; null where there is nothing new to tell. */
  #keeps: readonly string[] | null = null;
  #shared: readonly SharedSecret[] = [];
  /** So many events from the first on go one by one: one among them was refused. */
  #alone = 0;
  #sending = false;
  #cancelLate: (() => void) | null = null;
  readonly #closed = new AbortController();

  constructor(channel: AgentChannel, host: Host, onStale: (key: TaskKey) => void) {
    this.#channel = channel;
    this.#host = host;
    this.#onStale = onStale;
  }

  tell(event: TaskFact): void {
    this.#events.push(event);
    if (event.kind !== 'JobStarted') this.#start();
    else this.#cancelLate ??= this.#host.timers.after(latestStartMs, () => this.#start());
  }

  release(key: TaskKey): void {
    this.#released.push(key);
    this.#start();
  }

  /** Other secrets stay on the node now. */
  keeps(names: readonly string[]): void {
    this.#keeps = names;
    this.#start();
  }

  /** What was sealed for other nodes. */
  share(shared: readonly SharedSecret[]): void {
    this.#shared = [...this.#shared, ...shared];
    this.#start();
  }

  close(): void {
    this.#cancelLate?.();
    this.#closed.abort('closed');
  }

  #start(): void {
    this.#cancelLate?.();
    this.#cancelLate = null;
    if (this.#sending || this.#closed.signal.aborted) return;
    this.#sending = true;
    void this.#send();
  }

  async #send(): Promise<void> {
    let pauseMs = 100;
    while (this.#hasNews() && !this.#closed.signal.aborted) {
      const report = this.#takeNews();
      try {
        for (const key of await this.#channel.report(report)) this.#onStale(key);
        pauseMs = 100;
        this.#alone = Math.max(0, this.#alone - 1);
      } catch (error) {
        const isRefused = isNotOurs(error);
        if (isRefused && report.events.length === 1) {
          // It stands in the audit there; it must not keep back what the other tasks have to tell.
          this.#alone = Math.max(0, this.#alone - 1);
          this.#putBack({ ...report, events: [] });
          continue;
        }
        // Not delivered: it stays first in line. The control plane's fault is told where the channel was opened.
        this.#putBack(report);
        if (isRefused) this.#alone = report.events.length;
        await sleep(this.#host.timers, pauseMs, this.#closed.signal);
        pauseMs = Math.min(5000, pauseMs * 2);
      }
    }
    this.#sending = false;
  }

  #putBack({ events, released, secrets, shared }: News): void {
    this.#events = [...events, ...this.#events];
    this.#released = [...released, ...this.#released];
    this.#keeps ??= secrets ?? null;
    this.#shared = [...(shared ?? []), ...this.#shared];
  }

  #hasNews(): boolean {
    return this.#events.length + this.#released.length > 0 || this.#keeps !== null || this.#shared.length > 0;
  }

  #takeNews(): News {
    const secrets = this.#keeps === null ? {} : { secrets: this.#keeps };
    // One a report: each may be as large as a message.
    const [first, ...rest] = this.#shared;
    const shared = first === undefined ? {} : { shared: [first] };
    const count = this.#alone > 0 ? 1 : this.#events.length;
    const report = { events: this.#events.slice(0, count), released: this.#released, ...secrets, ...shared };
    this.#events = this.#events.slice(count);
    this.#released = [];
    this.#keeps = null;
    this.#shared = rest;
    return report;
  }
}

/** The control plane does not have the attempt as this node's: it was restored from before, or another is meant. */
function isNotOurs(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && (error.code === 'NOT_ASSIGNED' || error.code === 'FUTURE_ATTEMPT')
  );
}
