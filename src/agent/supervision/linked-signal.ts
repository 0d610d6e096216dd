/** A signal that aborts with another one, or when the function is called. */
export function linked(signal: AbortSignal): [AbortSignal, () => void] {
  const own = new AbortController();
  const abort = (): void => own.abort('ended');
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  return [
    own.signal,
    () => {
      signal.removeEventListener('abort', abort);
      abort();
    },
  ];
}
