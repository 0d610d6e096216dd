import { expect, it } from 'vitest';
import { type Fact, factKinds } from '../core/fact.ts';
import { exited, joining, submission } from '../core/scenario.testsuite.ts';
import { HostError } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import type { FactLog } from '../log/fact-log.ts';
import { plainFormats } from '../log/formats.ts';
import { createMemoryStore, type MemoryStore, openMemoryLog } from '../log/memory.ts';
import { ControlPlane } from './control-plane.ts';
import { fireTimers } from './timers.ts';

/** Time that passes only when told to, and how many timers wait for it. */
function createTime() {
  let nowMs = 1000;
  const due = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  const host: Host = {
    ...createNodeHost(createNodeProcesses({ directory: '/nonexistent' })),
    clock: { wallMs: () => nowMs, bootMs: () => nowMs, bootId: () => 'boot-1' },
    timers: {
      after: (delayMs, callback) => {
        const timer = { atMs: nowMs + delayMs, callback };
        due.add(timer);
        return () => due.delete(timer);
      },
    },
  };
  const settle = async (): Promise<void> => {
    for (let round = 0; round < 20; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
  };
  const pass = async (ms: number): Promise<void> => {
    for (const endMs = nowMs + ms; nowMs < endMs; nowMs += 100) {
      for (const timer of due) if (timer.atMs <= nowMs && due.delete(timer)) timer.callback();
      await settle();
    }
  };
  return { host, settle, pass, waiting: () => due.size };
}

function openLog(memory: MemoryStore, host: Host, isFull: () => boolean = () => false): Promise<FactLog<Fact>> {
  const beforeLock = async (): Promise<void> => {
    if (isFull()) throw new HostError('ENOSPC', 'no space left on device', '/log');
  };
  return openMemoryLog<Fact>(memory, host, { formats: plainFormats<Fact>(factKinds), pauses: { beforeLock } });
}

async function openWith(isFull?: () => boolean) {
  const time = createTime();
  const memory = createMemoryStore();
  const faults: unknown[] = [];
  const log = await openLog(memory, time.host, isFull);
  const plane = await ControlPlane.open(log, time.host, (error) => faults.push(error));
  return { time, memory, plane, faults };
}

it('is not woken while nothing will be due, and fires what a change makes due [G10]', async () => {
  const { time, plane, faults } = await openWith();
  const ended = new AbortController();
  const firing = fireTimers(plane, time.host, ended.signal);
  await plane.execute(joining('n1', 'i1'));
  await plane.execute(submission('a-222222'));
  await time.pass(3000);
  expect(time.waiting()).toBe(0);

  await plane.execute({ kind: 'DrainNode', node: 'n1', reason: 'maintenance', by: 'someone', deadlineMs: 5000 });
  await time.settle();
  expect(time.waiting()).toBe(1);
  const before = plane.seq;
  await time.pass(4500);
  expect(plane.seq).toBe(before);
  await time.pass(1000);
  const facts = (await plane.log.readAfter(before)).flatMap((batch) => batch.facts);
  expect(facts.map(({ kind }) => kind)).toContain('Evicted');

  await time.pass(3000);
  expect(time.waiting()).toBe(0);
  ended.abort();
  await firing;
  expect(faults).toEqual([]);
});

it('fires again what was due when a machine whose clock is behind decides after that [G10]', async () => {
  const { time, plane, faults, memory } = await openWith();
  const ended = new AbortController();
  const firing = fireTimers(plane, time.host, ended.signal);
  const { clock } = time.host;
  await plane.execute(joining('n1', 'i1'));
  await plane.execute(submission('a-222222', { retry: { maxAttempts: 3, onExit: [7] } }));
  await plane.execute({ kind: 'DrainNode', node: 'n1', reason: 'maintenance', by: 'someone', deadlineMs: null });
  const failure = { job: 'a-222222', index: 0, rank: 0, attempt: 1, ...exited(7) };
  await plane.execute({ kind: 'NodeReport', node: 'n1', instance: 'i1', events: [failure], released: [] });
  const behindMs = clock.wallMs();
  await time.pass(2500);
  const other = { ...time.host, clock: { ...clock, wallMs: () => behindMs, bootId: () => 'boot-2' } };
  const remote = await ControlPlane.open(await openLog(memory, other), other, (error) => faults.push(error));
  await remote.execute({ kind: 'ResumeNode', node: 'n1', by: 'someone' });
  const attempt = (): unknown => plane.state.jobs.get('a-222222')?.elements.get(0);
  await time.settle();
  expect(attempt()).toMatchObject({ kind: 'pending', attempt: 1 });
  await time.pass(2500);
  expect(attempt()).toMatchObject({ kind: 'live', attempt: 2 });
  ended.abort();
  await firing;
  expect(faults).toEqual([]);
});

it('is told when a commit has failed, so that it looks again whatever it saw meanwhile [G10]', async () => {
  let isFull = false;
  const { time, plane } = await openWith(() => isFull);
  let reloads = 0;
  const end = plane.onReload(() => {
    reloads += 1;
  });
  await plane.execute(joining('n1', 'i1'));
  expect(reloads).toBe(0);
  isFull = true;
  expect(await plane.execute(submission('a-222222'))).toMatchObject({ code: 'STORE_FULL' });
  await time.settle();
  expect(reloads).toBe(1);
  end();
});
