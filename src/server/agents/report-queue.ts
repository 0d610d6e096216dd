import type { Embedded } from '../../client/embedded.ts';
import type { Link } from '../../client/remote/agent/link.ts';
import type { TaskKey } from '../../core/job/job.ts';
import { isRefusal, type Refusal } from '../../core/refusal.ts';
import { type AgentMessage, mostEventsPerReport, type ServerMessage } from '../../wire/agent-protocol.ts';

type Report = Extract<AgentMessage, { kind: 'report' }>;

export interface ReportQueueOptions {
  readonly embedded: Embedded;
  readonly link: Link;
  readonly node: string;
  readonly instance: string;
  /** By agent: the number of its last report that was carried out. */
  readonly last: Map<string, number>;
  readonly say: (message: ServerMessage) => void;
}

/** So much may wait before the node is not read any more. */
const mostWaiting = 2 * mostEventsPerReport;

/**
 * The reports of one agent, carried out in order: one commit at a time, with all that came meanwhile in the next one
 * (R4.31). One that was carried out before is answered and no more (R4.29).
 */
export class ReportQueue {
  readonly #options: ReportQueueOptions;
  #waiting: Report[] = [];
  #waitingSize = 0;
  #busy = false;
  #held = false;
  #closed = false;

  constructor(options: ReportQueueOptions) {
    this.#options = options;
  }

  add(report: Report): void {
    this.#waiting.push(report);
    this.#waitingSize += sizeOf(report);
    if (this.#waitingSize > mostWaiting && !this.#held) {
      this.#held = true;
      this.#options.link.pause();
    }
    if (!this.#busy) void this.#drain();
  }

  close(): void {
    this.#closed = true;
    this.#waiting = [];
  }

  async #drain(): Promise<void> {
    this.#busy = true;
    try {
      while (this.#waiting.length > 0 && !this.#closed) await this.#carryOut(this.#take());
    } catch (error) {
      if (!this.#closed) this.#options.embedded.onFault(error);
    } finally {
      this.#busy = false;
    }
  }

  /** As many as fit into one report. */
  #take(): readonly Report[] {
    const taken: Report[] = [];
    let size = 0;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      size += sizeOf(next);
      if (taken.length > 0 && size > mostEventsPerReport) break;
      taken.push(next);
      this.#waiting.shift();
      this.#waitingSize -= sizeOf(next);
    }
    if (this.#held && this.#waitingSize <= mostEventsPerReport) {
      this.#held = false;
      this.#options.link.resume();
    }
    return taken;
  }

  async #carryOut(reports: readonly Report[]): Promise<void> {
    const { embedded, node, instance, last } = this.#options;
    const known = last.get(instance) ?? 0;
    const fresh = reports.filter(({ seq }) => seq > known);
    for (const { seq } of reports) if (seq <= known) this.#answer(seq, []);
    if (fresh.length === 0) return;
    const secrets = fresh.findLast((report) => report.secrets !== undefined)?.secrets;
    const shared = fresh.flatMap((report) => report.shared ?? []);
    const answer = await embedded.plane.execute(
      {
        kind: 'NodeReport',
        node,
        instance,
        events: fresh.flatMap(({ events }) => events),
        released: fresh.flatMap(({ released }) => released),
        ...(secrets === undefined ? {} : { secrets }),
        ...(shared.length === 0 ? {} : { shared }),
      },
      { actor: { kind: 'node', name: node } },
    );
    if (!isRefusal(answer)) last.set(instance, Math.max(...fresh.map(({ seq }) => seq)));
    const stale = !isRefusal(answer) && answer.kind === 'reported' ? answer.stale : [];
    for (const [position, { seq }] of fresh.entries()) {
      if (isRefusal(answer)) this.#refuse(seq, answer);
      else this.#answer(seq, position === 0 ? stale : []);
    }
  }

  #answer(seq: number, stale: readonly TaskKey[]): void {
    if (!this.#closed) this.#options.say({ kind: 'reported', seq, stale: [...stale] });
  }

  #refuse(seq: number, { code, message, hint }: Refusal): void {
    if (!this.#closed) this.#options.say({ kind: 'report-refused', seq, code, message, hint });
  }
}

function sizeOf({ events, released }: Report): number {
  return Math.max(1, events.length + released.length);
}
