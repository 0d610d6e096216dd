/** What this machine is, before any limit that a person set on the node. */
export interface Machine {
  hostname(): string;
  user(): string;
  cpus(): number;
  memoryMiB(): number;
  platform(): 'linux' | 'darwin';
  /** PATH of the agent itself, the start of every task's own. */
  path(): string;
  homeDirectory(): string;
}
