import type { Settings } from '../../core/profile/settings.ts';
import { type Probe, type Probes, probeDefaults } from '../../core/supervision/probe.ts';

/** True for commands that stay up, are started again when they end, or are asked how they are while they run. */
export function isSupervised({ kind, restart, startup, liveness, readiness }: Settings): boolean {
  if (kind === 'service' || restart.policy !== 'never') return true;
  return startup !== null || liveness !== null || readiness !== null;
}

/**
 * What has a port is ready when that accepts connections, unless it says otherwise. The first time is noticed at once
 * (port-watch.ts); after that the usual interval will do, at which even many replicas cost next to nothing.
 */
const usualReadiness: Probe = { ...probeDefaults, ask: { kind: 'tcp' } };

/** What is asked of a command; `port` is null where it has none. */
export function probesOf({ startup, liveness, readiness }: Settings, port: number | null): Probes {
  return { startup, liveness, readiness: readiness ?? (port === null ? null : usualReadiness) };
}
