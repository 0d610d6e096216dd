import { sleep } from '../../host/clock.ts';
import type { Host } from '../../host/host.ts';

const shortestPauseMs = 100;
const longestPauseMs = 2000;

/** The pause grows with the time that passed: what opens after a minute is not looked for ten times a second. */
const pauseShare = 0.05;

/** Resolves with true when the port first accepts a connection, and with false when the signal aborts. */
export async function waitForPort(host: Host, port: number, signal: AbortSignal): Promise<boolean> {
  const sinceMs = host.clock.bootMs();
  while (!signal.aborted) {
    if (await host.network.canConnect(port, longestPauseMs)) return !signal.aborted;
    const pauseMs = (host.clock.bootMs() - sinceMs) * pauseShare;
    await sleep(host.timers, Math.min(Math.max(pauseMs, shortestPauseMs), longestPauseMs), signal);
  }
  return false;
}
