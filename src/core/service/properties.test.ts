import { describe, expect, it } from 'vitest';
import { step } from '../engine.ts';
import { evolve } from '../evolve.ts';
import type { Fact } from '../fact.ts';
import { fromRecords, toRecords } from '../records.ts';
import type { State } from '../state.ts';
import { recordsText } from '../walk.testsuite.ts';
import { nextServiceDueMs } from './follow.ts';
import { isAvailable, rolloutOf } from './plan.ts';
import { rolloutMoves, type Service, wantedReplicas } from './service.ts';
import type { ServiceScenario } from './service-scenario.testsuite.ts';
import { serviceWalks } from './service-walk.testsuite.ts';

const runs = 20;

describe('any sequence of what is asked of a service and of what happens to its replicas', () => {
  it('takes no available replica below what is wanted less maxUnavailable by our own doing [I19] [C4]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      for (const command of commands) {
        const { facts } = at.step(command);
        const service = at.state.services.get('llm');
        if (service?.standing !== 'wanted' || command.kind === 'ScaleService' || command.kind === 'StopJob') continue;
        if (!dismissesReady(facts, at)) continue;
        const { maxUnavailable, minReadyMs } = rolloutOf(service);
        const up = at.active().filter((one) => {
          const stays = one.revision === service.revision && !one.moving;
          return stays ? isAvailable(one, minReadyMs, at.nowMs) : one.readySinceMs !== null;
        });
        expect(up.length).toBeGreaterThanOrEqual(wantedReplicas(service) - maxUnavailable);
      }
    });
  });

  it('starts no replica beyond what is wanted plus maxSurge, those that stop or may still live included [I20]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      const shadow = fromRecords(toRecords(at.state));
      for (const fact of at.step(...commands).facts) {
        evolve(shadow, fact, at.context());
        const service = shadow.services.get('llm');
        if (fact.kind !== 'JobSubmitted' || service === undefined) continue;
        // Copies that a lost node may still have are the price of `replace`; all others count.
        const counted = [...service.replicas.values()].filter(({ ended, away }) => !(ended && away));
        expect(counted.length).toBeLessThanOrEqual(service.desired + rolloutOf(service).maxSurge);
      }
    });
  });

  it('leaves every rollout moving only as its table says, and over or with time left [I21] [X25]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      const shadow = fromRecords(toRecords(at.state));
      for (const fact of at.step(...commands, { kind: 'Tick' }).facts) {
        const before = shadow.services.get('llm')?.rollout ?? null;
        evolve(shadow, fact, at.context());
        const after = shadow.services.get('llm')?.rollout ?? null;
        if (before === null || after === null || fact.kind === 'RolloutStarted' || before.state === after.state)
          continue;
        expect(rolloutMoves[before.state]).toContain(after.state);
      }
      const rollout = at.state.services.get('llm')?.rollout;
      if (rollout?.state === 'progressing') expect(rollout.deadlineAtMs).toBeGreaterThan(at.nowMs);
    });
  });

  it('lists endpoints of ready replicas only, that are not stopping and of their current attempt [I25] [X32]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      at.step(...commands);
      if (!at.state.services.has('llm')) return;
      const { view, service } = at;
      for (const { replica: index } of view.endpoints) {
        const replica = [...service.replicas.values()].find((one) => one.index === index);
        expect(replica).toMatchObject({ stopping: false, ended: false });
        const element = at.job(replica?.job ?? '').elements.get(0);
        expect(element).toMatchObject({ kind: 'live', verdict: null });
        expect(element?.tasks.every((task) => task.ready === true)).toBe(true);
      }
      expect(view.ready).toBeGreaterThanOrEqual(new Set(view.endpoints.map(({ replica }) => replica)).size);
    });
  });

  it('keeps replicas and jobs in step, each index once [X20] [X21]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      at.step(...commands);
      const replicas = [...(at.state.services.get('llm')?.replicas.values() ?? [])];
      expect(new Set(replicas.map(({ index }) => index)).size).toBe(replicas.length);
      for (const replica of replicas) {
        const job = at.state.jobs.get(replica.job);
        expect(job?.service).toEqual({ name: 'llm', index: replica.index, revision: replica.revision });
        expect(replica.ended).toBe(job?.outcome !== null);
        expect(at.service.revisions.has(replica.revision)).toBe(true);
      }
      const known = new Set(replicas.map(({ job }) => job));
      for (const job of at.state.jobs.values()) if (!known.has(job.id)) expect(isOnItsWayOut(at, job.id)).toBe(true);
    });
  });

  it('has nothing left to do when a step ends: time that passes not adds nothing [I28] [X31]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      at.step(...commands, { kind: 'Tick' });
      expect(at.step({ kind: 'Tick' }).facts).toEqual([]);
    });
  });

  it('adds nothing before the time at which it says that something is due [G10] [I28]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      at.step(...commands, { kind: 'Tick' });
      const due = dueMs(at);
      if (due === null) return;
      at.nowMs = due - 1;
      expect(at.step({ kind: 'Tick' }).facts).toEqual([]);
    });
  });

  it('gives the state that its facts give from nothing [I4]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      at.step(...commands);
      expect(recordsText(at.replayed())).toBe(recordsText(at.state));
    });
  });

  it('goes on from a snapshot exactly as without one [I5] [X28]', () => {
    serviceWalks(runs, ({ at }, commands) => {
      const restored = fromRecords(toRecords(at.state));
      expect(recordsText(restored)).toBe(recordsText(at.state));
      const { facts } = at.step(...commands, { kind: 'Tick' });
      const again = step(restored, [...commands, { kind: 'Tick' }], at.context(restored));
      expect(again.facts).toEqual(facts);
      expect(recordsText(restored)).toBe(recordsText(at.state));
    });
  });

  it('comes to what is wanted once everything is well again, or says why it does not [I27]', () => {
    serviceWalks(
      runs,
      ({ at }, commands) => void at.step(...commands),
      (walk) => {
        walk.heal();
        const { at } = walk;
        const service = at.state.services.get('llm');
        if (service === undefined) {
          expect(at.state.jobs.size).toBe(0);
          return;
        }
        checkRest(at, service);
      },
    );
  });
});

function checkRest(at: ServiceScenario, service: Service): void {
  const { state, reason, ready } = at.view;
  const { rollout } = service;
  if (state === 'STOPPED' || state === 'COMPLETED') {
    expect(service.replicas.size).toBe(0);
    return;
  }
  if (rollout?.state === 'paused' || rollout?.state === 'failed' || service.lost > 0) {
    expect(reason).not.toBeNull();
    return;
  }
  const isCrowded = at.view.replicas.some(({ waiting }) => waiting !== null);
  if (isCrowded) {
    expect(reason).not.toBeNull();
    return;
  }
  expect(`${state} ${rollout?.state ?? 'none'} ${reason}`).toMatch(/^RUNNING (done null|none null|rolled-back .+)$/);
  expect(ready).toBe(wantedReplicas(service));
  expect(service.replicas.size).toBe(wantedReplicas(service));
  for (const replica of at.active()) expect(replica.revision).toBe(service.revision);
}

/** Whether a rule, not a person, dismissed a replica that was ready until then. */
function dismissesReady(facts: readonly Fact[], at: ServiceScenario): boolean {
  return facts.some((fact) => {
    if (fact.kind !== 'ReplicaDismissed' || !/^(replaced|undone|makes room)/.test(fact.reason)) return false;
    const tasks = at.job(fact.job).elements.get(0)?.tasks ?? [];
    return tasks.length > 0 && tasks.every((task) => task.ready === true);
  });
}

function dueMs({ state, nowMs }: { state: State; nowMs: number }): number | null {
  const due = [...state.services.values()].flatMap((service) => nextServiceDueMs(service, nowMs) ?? []);
  for (const job of state.jobs.values()) {
    const element = job.elements.get(0);
    if (element?.kind === 'pending' && element.notBeforeMs > nowMs) due.push(element.notBeforeMs);
  }
  return due.length === 0 ? null : Math.min(...due);
}

/** A job of a service that was removed: it ends, or has ended and may still live. */
function isOnItsWayOut({ state }: ServiceScenario, id: string): boolean {
  const job = state.jobs.get(id);
  const element = job?.elements.get(0);
  return job?.outcome !== null || (element?.kind === 'live' && element.stopAsked);
}
