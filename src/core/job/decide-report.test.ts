import { describe, expect, it } from 'vitest';
import { collected, exited, Scenario } from '../scenario.testsuite.ts';

function running(outputs: readonly string[] = []): { at: Scenario; id: string } {
  const at = new Scenario();
  at.join('n1');
  return { at, id: at.submit({}, { setup: 'make', outputs }) };
}

describe('a report', () => {
  it('may tell several steps of a task at once [S3]', () => {
    const { at, id } = running(['out']);
    const { facts } = at.report(
      at.key(id),
      { kind: 'SetupCompleted', reused: true },
      { kind: 'JobStarted', port: null },
      exited(0),
      collected,
    );
    expect(facts.map((fact) => fact.kind)).toEqual([
      'SetupCompleted',
      'JobStarted',
      'JobExited',
      'OutputsCollected',
      'AttemptEnded',
      'JobEnded',
      'JobArchived',
    ]);
    expect(at.stateOf(id)).toBe('COMPLETED');
  });

  it('repeated in whole or in part adds no fact [R4.29] [I28] [C9]', () => {
    const { at, id } = running(['out']);
    const told = [
      { kind: 'SetupCompleted', reused: false },
      { kind: 'JobStarted', port: null },
    ] as const;
    at.report(at.key(id), ...told);
    expect(at.report(at.key(id), ...told).facts).toEqual([]);
    expect(at.report(at.key(id), ...told, ...told, exited(0), exited(1)).facts.map((fact) => fact.kind)).toEqual([
      'JobExited',
    ]);
    expect(at.live(id).verdict?.exitCode).toBe(0);
  });

  it('cannot skip what a task still has to pass: no end without an exit [R4.30] [I27]', () => {
    const { at, id } = running();
    expect(at.report(at.key(id), exited(0)).facts).toEqual([]);
    const { facts } = at.report(at.key(id), { kind: 'SetupCompleted', reused: false }, collected);
    expect(facts.map((fact) => fact.kind)).toEqual(['SetupCompleted']);
    expect(at.task(id).step).toBe('run');
  });

  it('ends an attempt once, though outputs were collected that nobody declared [I13]', () => {
    const { at, id } = running();
    const { facts } = at.report(at.key(id), { kind: 'SetupCompleted', reused: false }, exited(0), collected);
    expect(facts.map((fact) => fact.kind)).toEqual([
      'SetupCompleted',
      'JobExited',
      'AttemptEnded',
      'JobEnded',
      'JobArchived',
    ]);
  });

  it('of a job, rank or index that is not known is stale [I14]', () => {
    const { at, id } = running();
    const keys = [
      { job: 'ghost', index: 0, rank: 0, attempt: 1 },
      { ...at.key(id), rank: 1 },
      { ...at.key(id), index: 1 },
    ];
    const { answers, facts } = at.step(
      at.reportOf(
        'n1',
        keys.map((key) => ({ ...key, ...exited(0) })),
      ),
    );
    expect(answers).toEqual([{ kind: 'reported', stale: keys }]);
    expect(facts).toEqual([]);
  });

  it('of an attempt that is yet to come is refused: it is neither believed nor stopped [R4.28] [I14]', () => {
    const { at, id } = running();
    const ahead = { ...at.key(id), attempt: 2, ...exited(0) };
    const refusal = at.refused(at.reportOf('n1', [{ ...at.key(id), ...exited(0) }, ahead]));
    expect(refusal).toMatchObject({ code: 'FUTURE_ATTEMPT', message: `attempt 2 of ${id} was never placed` });
    expect(at.stateOf(id)).toBe('RUNNING');
  });

  it('publishes outputs once, and only those of the current attempt [I15] [I14]', () => {
    const at = new Scenario();
    at.join('n1');
    const id = at.submit({ retry: { maxAttempts: 2, onExit: [75] } }, { outputs: ['out'] });
    const started = [
      { kind: 'SetupCompleted', reused: false },
      { kind: 'JobStarted', port: null },
    ] as const;
    const first = at.key(id);
    at.report(first, ...started, exited(75), collected);
    at.pass(60_000);
    const second = at.key(id);
    expect(second.attempt).toBe(2);
    at.report(second, ...started);
    expect(at.report(first, collected).facts).toEqual([]);
    expect(at.report(second, exited(0), collected, collected).facts.map((fact) => fact.kind)).toEqual([
      'JobExited',
      'OutputsCollected',
      'AttemptEnded',
      'JobEnded',
      'JobArchived',
    ]);
    expect(at.report(second, collected).facts).toEqual([]);
  });

  it('of an endpoint is news each time it changes, and the port with it [G2]', () => {
    const { at, id } = running();
    at.report(at.key(id), { kind: 'SetupCompleted', reused: false }, { kind: 'JobStarted', port: 4000 });
    const open = (port: number) =>
      at.report(at.key(id), { kind: 'EndpointOpened', endpoint: `10.0.0.1:${port}` }).facts.length;
    expect([open(4000), open(4000), open(4001)]).toEqual([1, 0, 1]);
    expect(at.task(id)).toMatchObject({ port: 4001, endpoint: '10.0.0.1:4001' });
  });

  it('of a task without exit code or signal says so [U1]', () => {
    const { at, id } = running();
    at.report(
      at.key(id),
      { kind: 'SetupCompleted', reused: false },
      { kind: 'JobExited', exitCode: null, signal: null, detail: null },
    );
    expect(at.job(id).outcome?.message).toBe('ended without an exit code');
    expect(at.stateOf(id)).toBe('FAILED');
  });

  it('keeps the signal apart from the exit code [U1] [S7]', () => {
    const { at, id } = running();
    at.report(
      at.key(id),
      { kind: 'SetupCompleted', reused: false },
      { kind: 'JobExited', exitCode: null, signal: 9, detail: 'out of memory' },
    );
    expect(at.job(id).outcome).toEqual({
      reason: 'exit',
      exitCode: null,
      signal: 9,
      message: 'killed by signal 9: out of memory',
    });
  });
});
