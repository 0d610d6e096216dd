/** How long a node that joins over the network may be silent. All in milliseconds. */
export interface LeaseTimes {
  /** Between two heartbeats of a node. */
  readonly heartbeatMs: number;
  /** A heartbeat is good for so long; a node silent for longer is suspect: it gets no new work. */
  readonly leaseMs: number;
  /**
   * From the end of the lease until the node is lost. Longer than the restart of an agent with its rejoin, and than a
   * failover of the control plane, with two heartbeats to spare.
   */
  readonly graceMs: number;
  /** What every lease lasts when the control plane itself was away: that nobody was heard then says nothing of them. */
  readonly afterOutageMs: number;
}

export const leaseTimes: LeaseTimes = { heartbeatMs: 5000, leaseMs: 30_000, graceMs: 90_000, afterOutageMs: 300_000 };

/** What a decision knows of leases where there are none. */
export const withoutLeases: {
  readonly leases: ReadonlyMap<string, number>;
  readonly leaseTimes: LeaseTimes;
  readonly afterOutage: boolean;
} = { leases: new Map(), leaseTimes, afterOutage: false };

/** The name under which the log keeps a node's lease, beside the leases of roles. */
export function leaseName(node: string): string {
  return `node/${node}`;
}
