import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  adoptHealth,
  checkProbes,
  dueProbes,
  freshHealth,
  type Health,
  type Probe,
  type ProbeKind,
  type Probes,
  probeDefaults,
  takeAnswer,
} from './probe.ts';

const probe = (more: Partial<Probe> = {}): Probe => ({ ask: { kind: 'tcp' }, ...probeDefaults, ...more });
const all: Probes = {
  startup: probe({ failures: 5 }),
  liveness: probe({ failures: 3 }),
  readiness: probe({ failures: 2, successes: 2 }),
};
const none: Probes = { startup: null, liveness: null, readiness: null };

/** `s+ l- r+`: answers of the startup, liveness and readiness probe, good or bad. */
function told(health: Health, answers: string, probes: Probes = all): Health {
  const kinds: Readonly<Record<string, ProbeKind>> = { s: 'startup', l: 'liveness', r: 'readiness' };
  let now = health;
  for (const answer of answers.split(' ')) {
    const kind = kinds[answer[0] ?? ''] ?? 'startup';
    now = takeAnswer(now, probes, { kind, run: now.run, ok: answer[1] === '+', detail: 'port 4 refused' });
  }
  return now;
}

describe('a run without probes', () => {
  it('is started and ready from its beginning, and is asked nothing [X2] [X3]', () => {
    expect(freshHealth(1, none)).toMatchObject({ started: true, ready: true, dead: null });
    expect(dueProbes(freshHealth(1, none), none)).toEqual([]);
  });
});

describe('the startup probe', () => {
  it('gates the others: nothing else is asked, and nothing else counts, before it succeeds [C5]', () => {
    const fresh = freshHealth(1, all);
    expect(dueProbes(fresh, all)).toEqual(['startup']);
    expect(told(fresh, 'l- l- l- r+ r+')).toEqual(fresh);
    const started = told(fresh, 's- s- s+');
    expect(started).toMatchObject({ started: true, ready: false, startupFailures: 0, reason: null });
    expect(dueProbes(started, all)).toEqual(['liveness', 'readiness']);
  });

  it('ends the run after so many failures in a row, and says which and why [X2]', () => {
    const four = told(freshHealth(1, all), 's- s- s- s-');
    expect(four).toMatchObject({ dead: null, reason: 'startup 4 of 5, port 4 refused' });
    const five = told(four, 's-');
    expect(five.dead).toBe('startup 5 of 5, port 4 refused');
    expect(dueProbes(five, all)).toEqual([]);
    expect(told(five, 's+')).toEqual(five);
  });

  it('makes a run ready where there is no readiness probe [X3]', () => {
    const probes = { ...all, readiness: null };
    expect(told(freshHealth(1, probes), 's+', probes).ready).toBe(true);
  });
});

describe('the liveness probe', () => {
  const live = told(freshHealth(1, all), 's+ r+ r+');

  it('ends the run after so many failures in a row only [X2]', () => {
    expect(told(live, 'l- l- l+ l- l-')).toMatchObject({ dead: null, ready: true, livenessFailures: 2 });
    const dead = told(live, 'l- l- l-');
    expect(dead).toMatchObject({ ready: false, dead: 'liveness failed 3 times: port 4 refused' });
    expect(dead.reason).toBe(dead.dead);
  });

  it('says it in the singular where one failure is enough [X7]', () => {
    const probes = { ...all, liveness: probe({ failures: 1 }) };
    expect(told(live, 'l-', probes).dead).toBe('liveness failed 1 time: port 4 refused');
  });
});

describe('the readiness probe', () => {
  const started = told(freshHealth(1, all), 's+');

  it('makes ready after so many successes in a row, and not ready after so many failures in a row [X3]', () => {
    expect(told(started, 'r+ r- r+')).toMatchObject({ ready: false });
    const ready = told(started, 'r+ r+');
    expect(ready).toMatchObject({ ready: true, reason: null });
    expect(told(ready, 'r-')).toMatchObject({ ready: true, readinessFailures: 1 });
    expect(told(ready, 'r- r+ r-')).toMatchObject({ ready: true });
    expect(told(ready, 'r- r-')).toMatchObject({ ready: false, reason: 'not ready: port 4 refused', dead: null });
  });
});

describe('a run after another', () => {
  it('inherits nothing: it starts anew, and answers about the one before are dropped [C5] [C7]', () => {
    const before = told(freshHealth(1, all), 's+ r+ r+ l- l-');
    const fresh = freshHealth(2, all);
    expect(fresh).toMatchObject({ started: false, ready: false, livenessFailures: 0 });
    for (const kind of ['startup', 'liveness', 'readiness'] as const) {
      expect(takeAnswer(fresh, all, { kind, run: before.run, ok: true, detail: '' })).toBe(fresh);
      expect(takeAnswer(before, all, { kind, run: 2, ok: false, detail: '' })).toBe(before);
    }
  });

  it('keeps its last verdict over a restart of the agent until enough fresh failures say otherwise [B3]', () => {
    const ready = told(freshHealth(1, all), 's+ r+ r+ l- l- r-');
    const adopted = adoptHealth(ready);
    expect(adopted).toMatchObject({ run: 1, started: true, ready: true, dead: null });
    expect(told(adopted, 'l- l- r-')).toMatchObject({ ready: true, dead: null });
    expect(told(adopted, 'l- l- l-').dead).not.toBeNull();
    const starting = adoptHealth(told(freshHealth(1, all), 's- s-'));
    expect(starting).toMatchObject({ started: false, reason: 'startup 2 of 5, port 4 refused' });
  });
});

describe('any sequence of answers', () => {
  it('never makes ready what has not started, nor asks or changes what is to be ended [I25]', () => {
    const answers = fc.array(
      fc.record({
        kind: fc.constantFrom<ProbeKind>('startup', 'liveness', 'readiness'),
        run: fc.constantFrom(1, 1, 1, 2),
        ok: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(answers, (given) => {
        let health = freshHealth(1, all);
        for (const answer of given) {
          const next = takeAnswer(health, all, { ...answer, detail: 'x' });
          expect(next.ready && (!next.started || next.dead !== null)).toBe(false);
          if (health.dead !== null || answer.run !== 1) expect(next).toBe(health);
          if (!health.ready && next.ready) expect(answer).toMatchObject({ kind: 'readiness', ok: true });
          health = next;
        }
      }),
    );
  });
});

describe('probes as they are written', () => {
  it.each([
    [{ liveness: probe({ intervalMs: 50 }) }, 'liveness', 'RANGE'],
    [{ startup: probe({ timeoutMs: 1 }) }, 'startup', 'RANGE'],
    [{ readiness: probe({ failures: 0 }) }, 'readiness', 'RANGE'],
    [{ startup: probe({ successes: 2 }) }, 'startup', 'RANGE'],
    [{ liveness: probe({ successes: 2 }) }, 'liveness', 'RANGE'],
    [{ readiness: probe({ successes: 0 }) }, 'readiness', 'RANGE'],
    [{ liveness: probe({ initialDelayMs: -1 }) }, 'liveness', 'RANGE'],
    [{ liveness: probe({ failures: Number.NaN }) }, 'liveness', 'RANGE'],
    [{ liveness: probe({ ask: { kind: 'http', path: 'http://169.254.169.254/' } }) }, 'liveness', 'BAD_VALUE'],
  ] as const)('are refused for %j [X2] [R4.32]', (more, kind, code) => {
    expect(checkProbes({ ...none, ...more })).toMatchObject({ code, path: `profile.${kind}` });
  });

  it('are taken as the defaults are, readiness with several successes [X2] [X3]', () => {
    expect(checkProbes(all)).toBeNull();
    expect(checkProbes(none)).toBeNull();
  });
});
