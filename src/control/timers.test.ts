import { expect, it } from 'vitest';
import { type Fact, factKinds } from '../core/fact.ts';
import { joining, submission } from '../core/scenario.testsuite.ts';
import { HostError } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import { plainFormats } from '../log/formats.ts';
import { createMemoryStore, openMemoryLog } from '../log/memory.ts';
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

async function openWith(isFull: () => boolean = () => false) {
  const time = createTime();
  const beforeLock = async (): Promise<void> => {
    if (isFull()) throw new HostError('ENOSPC', 'no space left on device', '/log');
  };
  const log = await openMemoryLog<Fact>(createMemoryStore(), time.host, {
    formats: plainFormats<Fact>(factKinds),
    pauses: { beforeLock },
  });
  const faults: unknown[] = [];
  const plane = await ControlPlane.open(log, time.host, (error) => faults.push(error));
  return { time, plane, faults };
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

it('looks again once a commit has failed, whatever it saw meanwhile [G10]', async () => {
  let isFull = false;
  const { time, plane } = await openWith(() => isFull);
  let changes = 0;
  const unfollow = plane.follow(() => {
    changes += 1;
  });
  await plane.execute(joining('n1', 'i1'));
  expect(changes).toBe(1);
  isFull = true;
  expect(await plane.execute(submission('a-222222'))).toMatchObject({ code: 'STORE_FULL' });
  await time.settle();
  expect(changes).toBe(2);
  unfollow();
  isFull = false;
  await plane.execute(submission('a-222222'));
  expect(changes).toBe(2);
});
