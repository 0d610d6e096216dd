import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { defaultRestart, jitterShare, type RestartPolicy, stablePeriodMs } from './policy.ts';
import { backoffMs, decideRestart, freshHistory, type RestartHistory, type RunEnd } from './restart.ts';

const failed: RunEnd = { kind: 'failure', stableSinceMs: null, message: 'exited with code 1' };
const policyOf = (more: Partial<RestartPolicy> = {}): RestartPolicy => ({ ...defaultRestart, ...more });

/** Runs that fail `lastsMs` after they started, until the supervisor gives up or `most` runs have ended. */
function crashLoop(
  policy: RestartPolicy,
  most: number,
  lastsMs = 0,
  end = failed,
): { delays: number[]; gaveUp: string | null } {
  const delays: number[] = [];
  let history: RestartHistory = freshHistory;
  let nowMs = 0;
  for (let run = 0; run < most; run += 1) {
    nowMs += lastsMs;
    const decision = decideRestart(policy, history, end, { nowMs, seed: 'llm-1.1' });
    if (decision.kind !== 'restart') return { delays, gaveUp: decision.kind === 'give-up' ? decision.message : 'end' };
    delays.push(decision.delayMs);
    history = decision.history;
    nowMs += decision.delayMs;
  }
  return { delays, gaveUp: null };
}

describe('a supervised process that ends', () => {
  it('is started again after 1, 2, 4 … 30 s, each within a fifth either way [G3] [I18]', () => {
    const { delays, gaveUp } = crashLoop(policyOf(), 12);
    const plain = [1, 2, 4, 8, 16, 30, 30, 30, 30, 30, 30, 30].map((seconds) => seconds * 1000);
    expect(gaveUp).toBeNull();
    delays.forEach((delayMs, position) => {
      const share = delayMs / (plain[position] ?? 1);
      expect(share).toBeGreaterThanOrEqual(1 - jitterShare);
      expect(share).toBeLessThanOrEqual(1 + jitterShare);
    });
    expect(new Set(delays.slice(5)).size).toBeGreaterThan(3);
    expect(crashLoop(policyOf(), 12).delays).toEqual(delays);
  });

  it('backs off as well when it ends well again and again, without counting as failing [G3]', () => {
    const giveUp = { kind: 'failures', failures: 3 } as const;
    const { delays, gaveUp } = crashLoop(policyOf({ giveUp }), 8, 0, { ...failed, kind: 'success' });
    expect(gaveUp).toBeNull();
    expect(delays[0]).toBeLessThanOrEqual(1200);
    expect(delays[7]).toBeGreaterThanOrEqual(24_000);
  });

  it('is started at once where the initial delay is none [G3]', () => {
    const backoff = { initialMs: 0, maxMs: 30_000 };
    expect(decideRestart(policyOf({ backoff }), freshHistory, failed, { nowMs: 0, seed: 'a' })).toMatchObject({
      kind: 'restart',
      delayMs: 0,
    });
  });

  it.each([
    ['always', 'failure', 'restart'],
    ['always', 'success', 'restart'],
    ['always', 'stopped', 'end'],
    ['always', 'permanent', 'give-up'],
    ['on-failure', 'failure', 'restart'],
    ['on-failure', 'success', 'end'],
    ['on-failure', 'stopped', 'end'],
    ['on-failure', 'permanent', 'give-up'],
    ['never', 'failure', 'end'],
    ['never', 'success', 'end'],
    ['never', 'stopped', 'end'],
    ['never', 'permanent', 'end'],
  ] as const)('under %s after %s: %s [X1] [G3]', (policy, kind, decided) => {
    const decision = decideRestart(policyOf({ policy }), freshHistory, { ...failed, kind }, { nowMs: 0, seed: 'a' });
    expect(decision.kind).toBe(decided);
  });

  it('that could never start is given up at once, with what was wrong [X5] [C3]', () => {
    const end: RunEnd = { kind: 'permanent', stableSinceMs: null, message: 'serv: command not found' };
    expect(decideRestart(policyOf(), freshHistory, end, { nowMs: 0, seed: 'a' })).toEqual({
      kind: 'give-up',
      message: 'cannot start: serv: command not found',
    });
  });

  it('is given up after so many failures in a row, exactly then [X1] [I18]', () => {
    const { delays, gaveUp } = crashLoop(policyOf({ giveUp: { kind: 'failures', failures: 10 } }), 50);
    expect(delays).toHaveLength(9);
    expect(gaveUp).toBe('failed 10 times in a row; the last: exited with code 1');
  });

  it('is given up after so many restarts within the window, and not when they come more slowly [X1] [I18]', () => {
    const giveUp = { kind: 'restarts', restarts: 5, windowMs: 60_000 } as const;
    const quick = crashLoop(policyOf({ giveUp }), 50);
    expect(quick.delays).toHaveLength(5);
    expect(quick.gaveUp).toBe('restarted 5 times within 60 s; the last: exited with code 1');
    expect(crashLoop(policyOf({ giveUp }), 50, 20_000).gaveUp).toBeNull();
  });

  it('is given up once it was restarted as often as it may be, in all [G3] [X1]', () => {
    const { delays, gaveUp } = crashLoop(policyOf({ maxRestarts: 3 }), 50, 600_000);
    expect(delays).toHaveLength(3);
    expect(gaveUp).toMatch(/^restarted 3 times, as often as it may/);
  });

  it('has recovered after a stable period: the delay and the failures begin anew, the restarts do not [X5]', () => {
    const before = { restarts: 7, failures: 6, endsInRow: 6, restartedAtMs: [] };
    const at = { nowMs: 1_000_000, seed: 'a' };
    const early = { ...failed, stableSinceMs: at.nowMs - stablePeriodMs + 1 };
    const late = { ...failed, stableSinceMs: at.nowMs - stablePeriodMs };
    expect(decideRestart(policyOf(), before, early, at)).toMatchObject({ history: { restarts: 8, failures: 7 } });
    const recovered = decideRestart(policyOf(), before, late, at);
    expect(recovered).toMatchObject({ kind: 'restart', history: { restarts: 8, failures: 1 } });
    if (recovered.kind === 'restart') expect(recovered.delayMs).toBeLessThanOrEqual(1200);
  });

  it('keeps no longer a history than its rule needs [X31]', () => {
    let history: RestartHistory = freshHistory;
    for (let run = 0; run < 500; run += 1) {
      const giveUp = { kind: 'restarts', restarts: 100, windowMs: 60_000 } as const;
      const policy = policyOf({ giveUp, backoff: { initialMs: 0, maxMs: 1000 } });
      const decision = decideRestart(policy, history, failed, { nowMs: run * 1000, seed: 'a' });
      if (decision.kind === 'restart') history = decision.history;
    }
    expect(history.restarts).toBe(500);
    expect(history.restartedAtMs.length).toBeLessThanOrEqual(62);
  });

  it('never waits longer than the maximum and a fifth, nor less than its share, for any seed and count [I18]', () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 2000 }), (seed, failures) => {
        const delayMs = backoffMs(policyOf(), failures, seed);
        const plainMs = Math.min(30_000, 1000 * 2 ** Math.min(failures - 1, 40));
        expect(delayMs).toBeGreaterThanOrEqual(plainMs * (1 - jitterShare) - 1);
        expect(delayMs).toBeLessThanOrEqual(plainMs * (1 + jitterShare) + 1);
      }),
    );
  });
});
