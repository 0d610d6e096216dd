import { describe, expect, it } from 'vitest';
import type { Host } from '../host/host.ts';
import type { MarkedProcess, Processes, ProcessIdentity } from '../host/processes.ts';
import { stopTree } from './stop-ladder.ts';

/** A process that cannot be killed cannot be had for real, and a minute is long: the ladder in virtual time. */
interface Model {
  readonly shim: ProcessIdentity & { alive: boolean };
  /** Alive as long as the function says so, given what it was sent and the time. */
  readonly job: (sent: readonly string[], nowMs: number) => boolean;
}

const identity = (pid: number): ProcessIdentity => ({ pid, startTicks: pid, bootId: 'boot' });

function createModelHost(model: Model): { host: Host; sent: string[]; nowMs: () => number } {
  let nowMs = 0;
  const sent: string[] = [];
  const job: MarkedProcess = { ...identity(2), inGroup: false };
  const found = (): MarkedProcess[] => [
    ...(model.shim.alive ? [{ ...identity(1), inGroup: true }] : []),
    ...(model.job(sent, nowMs) ? [job] : []),
  ];
  const processes: Pick<Processes, 'findMarked' | 'killTree' | 'signal' | 'signalGroup'> = {
    findMarked: async () => found(),
    killTree: async (_, spare) => {
      sent.push('SIGKILL');
      if (spare === null) model.shim.alive = false;
    },
    signal: async (_, signal) => sent.push(signal) > 0,
    signalGroup: async () => true,
  };
  const parts: Pick<Host, 'clock' | 'timers'> & { processes: typeof processes } = {
    clock: { wallMs: () => nowMs, bootMs: () => nowMs, bootId: () => 'boot' },
    timers: {
      after: (delayMs, callback) => {
        let cancelled = false;
        queueMicrotask(() => {
          if (cancelled) return;
          nowMs += delayMs;
          callback();
        });
        return () => {
          cancelled = true;
        };
      },
    },
    processes,
  };
  return { host: parts as Host, sent, nowMs: () => nowMs };
}

describe('the ladder in virtual time', () => {
  const shim = (alive: boolean): Model['shim'] => ({ ...identity(1), alive });
  const options = { mark: 'm', directory: '/d', shim: identity(1), graceMs: 30_000 };

  it('gives the whole grace before it kills, and 60 s more before it calls a tree unkillable', async () => {
    const { host, sent, nowMs } = createModelHost({ shim: shim(false), job: () => true });
    expect(await stopTree({ ...options, host })).toBe('unkillable');
    expect(nowMs()).toBeGreaterThanOrEqual(90_000);
    expect(nowMs()).toBeLessThan(90_500);
    expect(sent.slice(0, 3)).toEqual(['SIGTERM', 'SIGCONT', 'SIGKILL']);
    expect(sent.filter((signal) => signal === 'SIGTERM').length).toBe(1);
  });

  it('does not kill what goes within the grace', async () => {
    const { host, sent, nowMs } = createModelHost({ shim: shim(false), job: (_, now) => now < 20_000 });
    expect(await stopTree({ ...options, host })).toBe('gone');
    expect(sent).toEqual(['SIGTERM', 'SIGCONT']);
    expect(nowMs()).toBeLessThan(20_500);
  });

  it('ends a shim that stays alone for two seconds', async () => {
    const { host, sent, nowMs } = createModelHost({ shim: shim(true), job: () => false });
    expect(await stopTree({ ...options, host })).toBe('gone');
    expect(sent).toEqual(['SIGKILL']);
    expect(nowMs()).toBeLessThan(3000);
  });

  it('warns a command that its shim starts only while the ladder is under way', async () => {
    const lives = (sent: readonly string[], now: number): boolean => now > 100 && !sent.includes('SIGTERM');
    const model: Model = { shim: shim(true), job: (sent, now) => lives(sent, now) };
    const { host, sent } = createModelHost(model);
    expect(await stopTree({ ...options, host })).toBe('gone');
    expect(sent[0]).toBe('SIGTERM');
  });
});
