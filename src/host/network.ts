export interface Network {
  /** True when a listener could be bound to the port on every address right now. */
  isPortFree(port: number): Promise<boolean>;
  /** Opens and closes a TCP connection to loopback; true when it was accepted within the time. */
  canConnect(port: number, timeoutMs: number): Promise<boolean>;
  /** GET of a port of loopback. Follows no redirect and reads at most 64 KiB of what comes back. */
  httpGet(port: number, path: string, timeoutMs: number): Promise<HttpAnswer>;
}

export type HttpAnswer =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused' }
  | { readonly kind: 'timed-out' }
  /** Something answered, but not in HTTP, or hung up in the middle. */
  | { readonly kind: 'broken'; readonly message: string };
