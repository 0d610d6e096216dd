import { describe, expect, it } from 'vitest';
import { checkRestartPolicy, defaultRestart, mostRestartsWithin, type RestartPolicy } from './policy.ts';

const policyOf = (more: Partial<RestartPolicy>): RestartPolicy => ({ ...defaultRestart, ...more });
const within = (restarts: number, windowMs: number) =>
  checkRestartPolicy(policyOf({ giveUp: { kind: 'restarts', restarts, windowMs } }));

describe('a restart policy', () => {
  it('is refused if its window can never hold so many restarts: at most 28 fit into 10 minutes [X1] [G3]', () => {
    expect(mostRestartsWithin(defaultRestart, 600_000)).toBe(28);
    expect(within(28, 600_000)).toBeNull();
    expect(within(29, 600_000)).toMatchObject({
      code: 'NEVER_FIRES',
      path: 'profile.restart.giveUp',
      message: 'restart.giveUp wants 29 restarts within 600 s, but the backoff allows at most 28',
    });
  });

  it('allows 23 of them without jitter, which is what people should count on [X1]', () => {
    let atMs = 0;
    let restarts = 0;
    for (let failures = 1; atMs <= 600_000; failures += 1) {
      atMs += Math.min(30_000, 1000 * 2 ** (failures - 1));
      if (atMs <= 600_000) restarts += 1;
    }
    expect(restarts).toBe(23);
  });

  it('without a delay can fill any window [X1]', () => {
    const policy = policyOf({ backoff: { initialMs: 0, maxMs: 0 } });
    expect(mostRestartsWithin(policy, 1000)).toBe(Number.POSITIVE_INFINITY);
    expect(mostRestartsWithin(policyOf({ backoff: { initialMs: 0, maxMs: 30_000 } }), 1000)).toBeGreaterThan(1000);
  });

  it('is refused if its maximum is below its initial delay [X1]', () => {
    expect(checkRestartPolicy(policyOf({ backoff: { initialMs: 5000, maxMs: 1000 } }))?.code).toBe('RANGE');
  });

  it.each([
    [{ maxRestarts: -1 }, 'maxRestarts'],
    [{ maxRestarts: 1.5 }, 'maxRestarts'],
    [{ giveUp: { kind: 'failures', failures: 0 } }, 'giveUp.failures'],
    [{ giveUp: { kind: 'restarts', restarts: Number.NaN, windowMs: 1000 } }, 'giveUp.restarts'],
    [{ giveUp: { kind: 'restarts', restarts: 1, windowMs: 0 } }, 'giveUp.window'],
    [{ backoff: { initialMs: -1, maxMs: 1000 } }, 'backoff.initial'],
    [{ backoff: { initialMs: 0, maxMs: 2 ** 60 } }, 'backoff.max'],
  ] as const)('is refused for %j [R4.9] [R4.10]', (more, key) => {
    expect(checkRestartPolicy(policyOf(more))).toMatchObject({ code: 'RANGE', path: `profile.restart.${key}` });
  });
});
