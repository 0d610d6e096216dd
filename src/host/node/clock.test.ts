import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createNodeClock, refineUptime } from './clock.ts';

/** A machine in virtual time: the truth, and the two clocks that can be read of it. */
function virtualMachine() {
  let trueMs = 5_003;
  let suspendedMs = 0;
  return {
    coarse: () => Math.floor(trueMs / 10) * 10,
    fine: () => trueMs - suspendedMs + 777,
    truth: () => trueMs,
    run: (ms: number) => {
      trueMs += ms;
    },
    suspend: (ms: number) => {
      trueMs += ms;
      suspendedMs += ms;
    },
  };
}

describe('boot time', () => {
  it('never goes back, never exceeds the truth, and lags less than 10 ms, finer than its coarse source', () => {
    const machine = virtualMachine();
    const bootMs = refineUptime(machine.coarse, machine.fine);
    let last = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < 1000; i++) {
      machine.run((i % 7) + 0.25);
      const now = bootMs();
      expect(now).toBeGreaterThan(last);
      expect(now).toBeLessThanOrEqual(machine.truth());
      expect(now).toBeGreaterThan(machine.truth() - 10);
      last = now;
    }
  });

  it('jumps ahead after a suspend, at the first look', () => {
    const machine = virtualMachine();
    const bootMs = refineUptime(machine.coarse, machine.fine);
    bootMs();
    machine.suspend(3_600_000);
    expect(bootMs()).toBeGreaterThan(machine.truth() - 10);
  });

  it.runIf(process.platform === 'linux')('agrees with the kernel and tells steps below 10 ms', () => {
    const clock = createNodeClock();
    const uptimeMs = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1000;
    const now = clock.bootMs();
    expect(now - uptimeMs).toBeGreaterThanOrEqual(0);
    expect(now - uptimeMs).toBeLessThan(1000);
    const steps = new Set(Array.from({ length: 50 }, () => clock.bootMs()));
    expect(steps.size).toBeGreaterThan(10);
    expect(clock.bootId()).toMatch(/^[0-9a-f-]{36}$/);
  });
});
