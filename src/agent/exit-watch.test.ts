import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Host } from '../host/host.ts';
import { argv, createTestNode, script, type TestNode } from './attempt.testsuite.ts';
import { createExitWatch } from './exit-watch.ts';
import { takeClaim, writeStartRecord } from './records.ts';

let node: TestNode;
beforeAll(async () => {
  node = await createTestNode();
});
afterAll(() => node.close());

it('tells many starts apart by one bell', async () => {
  const codes = Array.from({ length: 20 }, (_, index) => index);
  const ends = await Promise.all(codes.map((code) => node.newAttempt().run(script(`exit ${code}`))));
  expect(ends.map((end) => (end.kind === 'ended' && end.exit.kind === 'exited' ? end.exit.exitCode : null))).toEqual(
    codes,
  );
});

it('answers at once for what ended before it was asked', async () => {
  const attempt = node.newAttempt();
  const start = await attempt.start(argv('true'));
  await attempt.waitForText('../bell', `${attempt.directory}\n`);
  expect(await attempt.waitForEnd(start)).toMatchObject({ kind: 'ended', exit: { exitCode: 0 } });
});

/** Real files and processes, and a clock and timers that jump as soon as nothing else is to be done. */
function withJumpingTime(host: Host): Host {
  let nowMs = 0;
  return {
    ...host,
    clock: { ...host.clock, bootMs: () => nowMs },
    timers: {
      after: (delayMs, callback) =>
        host.timers.after(0, () => {
          nowMs += delayMs;
          callback();
        }),
    },
  };
}

it('takes the claim of a start whose shim never came, so that it may start again [C9]', async () => {
  const attempt = node.newAttempt();
  const host = withJumpingTime(node.host);
  const place = { files: host.files, directory: attempt.directory, label: 'run' } as const;
  await writeStartRecord(place, { nonce: 'lonely', mark: attempt.mark, bootId: host.clock.bootId() });
  const exits = await createExitWatch({ host, bell: `${node.root}/other-bell` });
  const end = await exits.wait({ directory: attempt.directory, label: 'run', nonce: 'lonely' });
  exits.close();
  expect(end).toEqual({ kind: 'start-again' });
  expect(host.clock.bootMs()).toBeGreaterThanOrEqual(10_000);
  expect(await takeClaim(place, 'lonely')).toBe(false);
});

it('finds by its poll an exit that rang another bell [B3]', async () => {
  const attempt = node.newAttempt();
  const exits = await createExitWatch({ host: withJumpingTime(node.host), bell: `${node.root}/third-bell` });
  const { nonce } = await attempt.start(script('sleep 0.05; exit 6'));
  // Virtual time runs through the ten seconds of an unclaimed start at once, so the shim must have claimed it by now.
  await vi.waitFor(() => expect(attempt.text('run.run.json')).toContain('end'), { timeout: 30_000 });
  const end = await exits.wait({ directory: attempt.directory, label: 'run', nonce });
  exits.close();
  expect(end).toMatchObject({ kind: 'ended', exit: { exitCode: 6 } });
});

it('wakes its node up only while it watches something', async () => {
  const attempt = node.newAttempt();
  const { timers, ...rest } = withJumpingTime(node.host);
  const after = vi.fn((delayMs: number, callback: () => void) => timers.after(delayMs, callback));
  const host = { ...rest, timers: { after } };
  const exits = await createExitWatch({ host, bell: `${node.root}/fourth-bell` });
  expect(after).not.toHaveBeenCalled();
  const { nonce } = await attempt.start(script('exit 0'));
  const end = exits.wait({ directory: attempt.directory, label: 'run', nonce });
  expect(after).toHaveBeenCalledTimes(1);
  await end;
  exits.close();
});
