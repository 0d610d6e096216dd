/** Lets a loop sleep until something happened; what rings while it is awake is not lost. */
export interface SignalBox {
  readonly ring: () => void;
  /** Resolves at the next ring, at once when it rang since the last wait, or when the signal aborts. Rejects once closed. */
  wait(): Promise<void>;
  isEnded(): boolean;
  /** Nothing will ring any more: the client was closed. */
  readonly close: () => void;
}

/** Listens to the signal only while it waits: one signal may be handed to any number of calls. */
export function createSignalBox(signal?: AbortSignal): SignalBox {
  let rung = false;
  let closed = false;
  let wake = (): void => {};
  const isEnded = (): boolean => signal?.aborted === true;
  return {
    ring() {
      rung = true;
      wake();
    },
    async wait() {
      if (!rung && !closed && !isEnded()) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          signal?.addEventListener('abort', wake);
        });
        signal?.removeEventListener('abort', wake);
      }
      if (closed && !isEnded()) throw new Error('the client was closed while this was waiting');
      rung = false;
    },
    isEnded,
    close() {
      closed = true;
      wake();
    },
  };
}
