import type { Link } from '../../client/remote/agent/link.ts';
import type { Host } from '../../host/host.ts';

const mostFramesPerSecond = 500;
const windowMs = 1000;

/** A node that talks too much is not read for the rest of the second (R4.31): TCP holds it up, and nobody else. */
export class FrameQuota {
  readonly #parts: Pick<Host, 'clock' | 'timers'> & { readonly link: Link };
  #sinceMs: number;
  #frames = 0;
  #cancel: (() => void) | null = null;

  constructor(parts: Pick<Host, 'clock' | 'timers'> & { readonly link: Link }) {
    this.#parts = parts;
    this.#sinceMs = parts.clock.bootMs();
  }

  count(): void {
    const { clock, timers, link } = this.#parts;
    const nowMs = clock.bootMs();
    if (nowMs - this.#sinceMs >= windowMs) {
      this.#sinceMs = nowMs;
      this.#frames = 0;
    }
    this.#frames += 1;
    if (this.#frames <= mostFramesPerSecond || this.#cancel !== null) return;
    link.pause();
    this.#cancel = timers.after(windowMs - (nowMs - this.#sinceMs), () => {
      this.#cancel = null;
      link.resume();
    });
  }

  close(): void {
    this.#cancel?.();
  }
}
