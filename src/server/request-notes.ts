import type { IncomingMessage } from 'node:http';
import type { Logger } from 'pino';
import type { Principal } from '../core/access/principal.ts';
import type { Clock } from '../host/clock.ts';
import type { ServerMetrics } from './metrics.ts';

/** What the log tells of a request: the route by its name and never its address, which may hold what is nobody's business. */
export interface RequestNote {
  readonly sinceMs: number;
  /** `none` where no route has that path. */
  route: string;
  actor: Principal | null;
  /** Of the refusal, where there was one. */
  code: string | null;
}

export interface RequestNotes {
  of(request: IncomingMessage): RequestNote;
  /** Logs and counts it. `status` is null where nothing was answered; `isCut` where the answer broke off. */
  ended(request: IncomingMessage, status: number | null, isCut: boolean): void;
}

export function createRequestNotes(parts: { log: Logger; metrics: ServerMetrics; clock: Clock }): RequestNotes {
  const { log, metrics, clock } = parts;
  const notes = new WeakMap<IncomingMessage, RequestNote>();
  const of = (request: IncomingMessage): RequestNote => {
    const note = notes.get(request) ?? { sinceMs: clock.bootMs(), route: 'none', actor: null, code: null };
    notes.set(request, note);
    return note;
  };
  return {
    of,
    ended(request, status, isCut) {
      const { sinceMs, route, actor, code } = of(request);
      const ms = Math.round(clock.bootMs() - sinceMs);
      const { method = '' } = request;
      metrics.answered({ method, route, status: String(status ?? 'none') }, ms);
      const principal = actor === null ? null : `${actor.kind} ${actor.name}`;
      const more = { ...(code === null ? {} : { code }), ...(isCut ? { isCut } : {}) };
      log.info({ method, route, status, ms, principal, ...more });
    },
  };
}
