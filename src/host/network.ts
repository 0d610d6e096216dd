export interface Network {
  /** True when a listener could be bound to the port on every address right now. */
  isPortFree(port: number): Promise<boolean>;
  /** Opens and closes a TCP connection to loopback; true when it was accepted within the time. */
  canConnect(port: number, timeoutMs: number): Promise<boolean>;
}
