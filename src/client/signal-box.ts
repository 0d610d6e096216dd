/** Lets a loop sleep until something happened; what rings while it is awake is not lost. */
export interface SignalBox {
  ring(): void;
  /** Resolves at the next ring, at once when it rang since the last wait, or when the signal aborts. */
  wait(): Promise<void>;
  isEnded(): boolean;
}

export function createSignalBox(signal?: AbortSignal): SignalBox {
  let rung = false;
  let wake = (): void => {};
  signal?.addEventListener('abort', () => wake(), { once: true });
  return {
    ring() {
      rung = true;
      wake();
    },
    wait() {
      if (rung || signal?.aborted) {
        rung = false;
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        wake = () => {
          rung = false;
          wake = () => {};
          resolve();
        };
      });
    },
    isEnded: () => signal?.aborted === true,
  };
}
