import { describe, expect, it } from 'vitest';
import { notAgain } from '../exit-code.ts';
import { type DaemonEnd, supervise } from './supervise.ts';

/** Runs that end as the list says, each after so long; pauses are noted, not waited for. */
function runsOf(
  ends: readonly (DaemonEnd & { afterMs?: number })[],
  { stopDuringPause = false, isReplaced = false } = {},
) {
  const pauses: number[] = [];
  const said: string[] = [];
  let nowMs = 0;
  let stopping = false;
  let next = 0;
  return {
    pauses,
    said,
    started: () => next,
    runs: {
      run: async () => {
        const end = ends[next] ?? { code: 0, signal: null };
        next += 1;
        nowMs += end.afterMs ?? 10;
        return { code: end.code, signal: end.signal };
      },
      isStopping: () => stopping,
      isReplaced: async () => isReplaced,
      pause: async (delayMs: number) => {
        pauses.push(delayMs);
        nowMs += delayMs;
        stopping = stopDuringPause;
      },
      nowMs: () => nowMs,
      say: (line: string) => {
        said.push(line);
      },
    },
  };
}

/** How often a pause doubled since the first second, jitter aside. */
function doublings(ms: number): number {
  return Math.round(Math.log2(ms / 1000)) + 0;
}

const killed: DaemonEnd = { code: null, signal: 'SIGKILL' };

describe('a daemon of our own', () => {
  it('is not started again where another supervisor has taken over meanwhile [X11]', async () => {
    const at = runsOf([killed, killed], { isReplaced: true });
    expect(await supervise(at.runs, 'laptop')).toEqual(killed);
    expect(at.started()).toBe(1);
  });

  it('that was refused for good is left alone: a copied machine must not fight for its name [X11]', async () => {
    const at = runsOf([{ code: notAgain, signal: null }, killed]);
    expect(await supervise(at.runs, 'laptop')).toEqual({ code: notAgain, signal: null });
    expect(at.started()).toBe(1);
    expect(at.said).toEqual(['the agent of laptop was refused for good; it is not started again']);
  });

  it('that dies is started again after 1, 2, 4 s, and left alone once it ends well [X11]', async () => {
    const at = runsOf([killed, killed, killed, { code: 0, signal: null }]);
    expect(await supervise(at.runs, 'laptop')).toEqual({ code: 0, signal: null });
    expect(at.pauses.map(doublings)).toEqual([0, 1, 2]);
    expect(at.said[0]).toContain('was killed by SIGKILL');
  });

  it('that has run for the stable period starts its backoff anew [X11]', async () => {
    const at = runsOf([killed, killed, { ...killed, afterMs: 61_000 }]);
    await supervise(at.runs, 'laptop');
    expect(at.pauses.map(doublings)).toEqual([0, 1, 0]);
  });

  it('that never comes up is given up, with the reason [X11]', async () => {
    const at = runsOf(Array.from({ length: 50 }, () => ({ code: 1, signal: null })));
    expect(await supervise(at.runs, 'laptop')).toEqual({ code: 1, signal: null });
    expect(at.started()).toBe(10);
    expect(at.said.at(-1)).toMatch(/given up: failed 10 times in a row/);
  });

  it('is not started again when its end was asked for meanwhile', async () => {
    const at = runsOf([killed, killed], { stopDuringPause: true });
    await supervise(at.runs, 'laptop');
    expect(at.started()).toBe(1);
  });
});
