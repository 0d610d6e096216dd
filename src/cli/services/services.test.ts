import { describe, expect, it } from 'vitest';
import type { ServiceHandle } from '../../client/api.ts';
import type { ServiceView } from '../../core/service/view.ts';
import type { CaughtSignal, Context } from '../context.ts';
import { chooseOutput } from '../output/choose.ts';
import { keepStreams } from '../output/fake-streams.testsuite.ts';
import { followService } from './follow-service.ts';
import { serviceFrame } from './service-frame.ts';
import { serviceInFull } from './service-in-full.ts';
import { servicesTable } from './services-table.ts';
import { verdictOn } from './verdict.ts';
import { nowMs, replicaView, rolloutView, serviceView, updating } from './views.testsuite.ts';

/** A frame as it stands on a terminal of 80 columns. */
function pictureOf(view: ServiceView): string {
  return serviceFrame(view, nowMs)
    .map((line) =>
      line
        .map(({ text }) => text)
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

const done = serviceView({
  rollout: rolloutView({ state: 'done', updated: 2, deadlineAt: null }),
  replicas: [replicaView('llm-9v3kzt', { ready: true }), replicaView('llm-4tq8ws', { ready: true, replica: 1 })],
  endpoints: [
    { replica: 0, endpoint: '127.0.0.1:41873' },
    { replica: 1, endpoint: '127.0.0.1:41874' },
  ],
});

describe('the picture of a rollout', () => {
  it('is the one of the interface [S3] [X27]', () => {
    expect(pictureOf(updating)).toBe(`llm  revision 4 → 5   replicas 2   surge 1, unavailable 0
  llm-c81d0m  rev 4  ready      up 3 d
  llm-0ppq2e  rev 4  stopping   within 30 s
  llm-9v3kzt  rev 5  ready      up 14 s
  llm-4tq8ws  rev 5  starting   startup probe: port 41873 refused
updated 1 of 2 · deadline in 9 min 12 s`);
  });

  it('says why a replica waits, how often one was restarted and why, and what became of one that is gone [X7]', () => {
    const waiting = { reason: 'busy', message: 'needs 1 GPU, all taken where it fits' } as const;
    const failing = { task: { restarts: 3, lastFailure: 'exited with code 1', endpoint: '127.0.0.1:4' } };
    const view = serviceView({
      state: 'UPDATING',
      reason: 'llm-aaaaaa ended: cannot start: ./serve: No such file or directory; replaced in 0.7 s',
      rollout: rolloutView({ from: 5, updated: 0, deadlineAt: '2026-01-04T00:00:02.500Z' }),
      replicas: [
        replicaView('llm-9v3kzt', { state: 'PENDING', waiting, tasks: [] }),
        replicaView('llm-4tq8ws', { ...failing, reason: 'not ready: port 4 refused' }),
        replicaView('llm-c81d0m', { ready: true, task: { restarts: 1 } }),
        replicaView('llm-0ppq2e', { task: { step: 'setup' } }),
      ],
    });
    expect(pictureOf(view)).toBe(`llm  revision 5   replicas 2
  llm-9v3kzt  rev 5  waiting    needs 1 GPU, all taken where it fits
  llm-4tq8ws  rev 5  not ready  port 4 refused, 3 restarts, last: exited with code 1
  llm-c81d0m  rev 5  ready      up 14 s, 1 restart
  llm-0ppq2e  rev 5  starting   in setup
  llm-aaaaaa ended: cannot start: ./serve: No such file or directory; replaced in 0.7 s
updated 0 of 2 · deadline in 3 s`);
  });

  it('says how it ended, and which revision is back', () => {
    const failed = pictureOf({ ...updating, rollout: rolloutView({ state: 'failed', deadlineAt: null, updated: 0 }) });
    expect(failed.split('\n').at(-1)).toBe('updated 0 of 2 · failed');
    const back = { ...updating, revision: 4, rollout: rolloutView({ state: 'rolled-back', deadlineAt: null }) };
    expect(pictureOf(back).split('\n')[0]).toBe('llm  revision 4   replicas 2');
    expect(pictureOf(back).split('\n').at(-1)).toBe('2 of 2 ready · rolled back from revision 5');
  });

  it('leaves out ready replicas where there are too many for a screen, and no other', () => {
    const ready = Array.from({ length: 20 }, (_, index) => replicaView(`llm-${index}`, { ready: true }));
    const picture = pictureOf(serviceView({ replicas: [...ready, replicaView('llm-last', {})] }));
    expect(picture.split('\n')).toHaveLength(17);
    expect(picture).toContain('llm-last  rev 5  starting');
    expect(picture).toContain('… and 7 more');
  });
});

describe('the picture in place', () => {
  it('is drawn over itself, only where it changed, and cut to the width', () => {
    const { streams, stderr } = keepStreams({ terminal: true, columns: 40, color: true });
    const output = chooseOutput(streams, { json: false, quiet: false });
    const first = [[{ text: 'llm  revision 4 → 5' }], [{ text: 'a line that is longer than this terminal is wide' }]];
    output.frame(first);
    expect(stderr()).toBe('\r\x1b[2Kllm  revision 4 → 5\n\x1b[2Ka line that is longer than this termin…\n');
    output.frame(first);
    output.frame([first[0] ?? [], [{ text: 'ready', tone: 'good' }]]);
    expect(stderr().endsWith('\n\x1b[1A\r\x1b[2K\x1b[32mready\x1b[0m\n')).toBe(true);
    output.frame([first[0] ?? []]);
    expect(stderr().endsWith('\x1b[1A\r\x1b[J')).toBe(true);
    output.frame(null);
    output.frame([[{ text: 'below' }]]);
    expect(stderr().endsWith('\r\x1b[2Kbelow\n')).toBe(true);
  });

  it('lets no line end or escape of a reason move the lines below it [R4.38]', () => {
    const { streams, stderr } = keepStreams({ terminal: true });
    chooseOutput(streams, { json: false, quiet: false }).frame([[{ text: 'a\nb\x1b[2Jc' }]]);
    expect(stderr()).toBe('\r\x1b[2Ka b [2Jc\n');
  });
});

describe('the list and the full view', () => {
  it('show counts, what is rolled out, and why [X7] [X27]', () => {
    const waiting = serviceView({
      name: 'chat',
      state: 'WAITING',
      ready: 0,
      revision: 1,
      reason: 'no node is running',
    });
    expect(servicesTable([updating, waiting], 80)).toBe(`NAME  STATE     READY  REVISION  WHY
llm   UPDATING  2/2    4 → 5
chat  WAITING   0/2    1         no node is running`);
  });

  it('say of a rollout that is done what it updated, whatever was scaled since', () => {
    const rollout = rolloutView({ state: 'done', updated: 3, deadlineAt: null });
    expect(serviceInFull(serviceView({ rollout }), nowMs, 80)).toContain('done, updated 3 of 3\n');
    expect(serviceInFull(serviceView({ rollout: { ...rollout, state: 'failed' } }), nowMs, 80)).toContain('3 of 2');
  });

  it('fit 80 columns, with restarts and the last failure of each replica [X7] [X27]', () => {
    const task = { restarts: 2, lastFailure: 'killed by signal 9', endpoint: '127.0.0.1:41873' };
    const view = serviceView({
      rollout: rolloutView({ state: 'done', updated: 2, deadlineAt: null }),
      replicas: [replicaView('llm-9v3kzt', { ready: true, task }), replicaView('llm-4tq8ws', { ready: true })],
      events: [{ at: '2026-01-03T23:59:48.000Z', message: 'revision 5 applied by ada' }],
    });
    const text = serviceInFull(view, nowMs, 80);
    expect(text).toBe(`llm
  state     RUNNING
  replicas  2 wanted, 2 running, 2 ready
  revision  5 (kept to go back to: 4)
  rollout   4 → 5 done, updated 2 of 2
  owner     ada, project default

REPLICA     REV  STATE  NODE    RESTARTS  ENDPOINT         WHY
llm-9v3kzt  5    ready  laptop  2         127.0.0.1:41873  last: killed by
                                                           signal 9
llm-4tq8ws  5    ready  laptop  0         –

WHEN      WHAT HAPPENED
12 s ago  revision 5 applied by ada`);
  });
});

describe('what became of an apply', () => {
  it('is done once the rollout is and nothing is left over', () => {
    expect(verdictOn(updating, 5)).toBeNull();
    expect(verdictOn(done, 5)?.ok).toBe(true);
    expect(verdictOn({ ...done, replicas: updating.replicas }, 5)).toBeNull();
    expect(verdictOn(serviceView({ ready: 1 }), 5)).toBeNull();
  });

  it.each([
    [
      'llm-4tq8ws not ready: startup 60 of 60, port 4 refused; the process listens on 8000',
      'start it with --port $PORT',
    ],
    ['no capacity: llm-4tq8ws needs 1 core, all taken where it fits', 'yard explain llm-4tq8ws'],
    ['llm-aaaaaa ended: cannot start: ./serve: No such file or directory', 'the node has no such program'],
    ['llm-4tq8ws is not ready', 'yard logs llm-4tq8ws'],
  ])('failed because %s: says what serves on and what to do [C1] [C3] [B10]', (reason, todo) => {
    const verdict = verdictOn({ ...updating, rollout: rolloutView({ state: 'failed', reason }) }, 5);
    expect(verdict?.ok).toBe(false);
    expect(verdict?.line.detail).toBe(`rollout to revision 5 failed: ${reason}`);
    expect(verdict?.line.below?.join('\n')).toContain('revision 4 serves on: 1 of 2 ready');
    expect(verdict?.line.below?.join('\n')).toContain(todo);
    expect(verdict?.line.below?.join('\n')).toContain('yard services rollout undo llm');
  });

  it('is over when it was rolled back, paused, stopped or overtaken', () => {
    const back = { ...updating, revision: 4, rollout: rolloutView({ state: 'rolled-back', reason: 'undone by ada' }) };
    expect(verdictOn(back, 5)?.line.detail).toBe('rolled back to revision 4: undone by ada');
    const undone = { ...done, revision: 4, rollout: rolloutView({ state: 'rolled-back', reason: 'undone by ada' }) };
    expect(verdictOn(undone, 4)?.ok).toBe(true);
    expect(verdictOn({ ...undone, ready: 1 }, 4)).toBeNull();
    expect(verdictOn({ ...done, ready: 1, completed: 1 }, 5)?.ok).toBe(true);
    const paused = { ...updating, rollout: rolloutView({ state: 'paused', reason: 'paused by ada' }) };
    expect(verdictOn(paused, 5)?.line.below).toEqual(['yard services rollout resume llm']);
    expect(verdictOn({ ...done, state: 'STOPPED' }, 5)?.ok).toBe(false);
    expect(verdictOn({ ...done, state: 'COMPLETED' }, 5)?.ok).toBe(true);
    expect(verdictOn({ ...done, revision: 6 }, 5)?.line.detail).toBe('revision 5 was overtaken by revision 6');
  });
});

/** Follows views that come one after the other; `signal` is sent after the last, and the service is gone then. */
async function follow(views: readonly ServiceView[], options: { json?: boolean; signal?: CaughtSignal } = {}) {
  const { streams, stdout, stderr } = keepStreams();
  let send = (): void => {};
  const context = {
    output: chooseOutput(streams, { json: options.json === true, quiet: false }),
    onSignal(signal: CaughtSignal, callback: () => void) {
      if (signal === options.signal) send = callback;
      return () => {};
    },
  } as unknown as Context;
  const service = {
    name: 'llm',
    async *watch() {
      for (const view of views) yield await Promise.resolve(view);
      send();
    },
  } as unknown as ServiceHandle;
  const code = await followService(context, service, 5);
  return { code, stdout: stdout(), stderr: stderr() };
}

describe('following an apply in a pipe', () => {
  it('has a line for each change, none for a count that went on, and where it answers [S3] [G15]', async () => {
    const { replicas } = updating;
    const later = {
      ...updating,
      replicas: replicas.map((one) => ({ ...one, reason: one.reason && 'startup 4 of 60' })),
    };
    const { code, stderr } = await follow([updating, later, done]);
    expect(code).toBe(0);
    expect(stderr).toBe(`llm-c81d0m  rev 4  ready
llm-0ppq2e  rev 4  stopping     within 30 s
llm-9v3kzt  rev 5  ready
llm-4tq8ws  rev 5  starting     startup probe: port 41873 refused
llm  updating            updated 1 of 2, 2 ready
llm-4tq8ws  rev 5  ready
llm  running             updated 2 of 2, 2 ready
llm  RUNNING             revision 5, 2 of 2 ready
  replica 0  127.0.0.1:41873
  replica 1  127.0.0.1:41874
`);
  });

  it('does not repeat a line in which only a countdown went on', async () => {
    const waiting = (seconds: string, why = 'llm-4tq8ws ended: gave up'): ServiceView =>
      serviceView({ state: 'WAITING', ready: 0, reason: `${why}; replaced in ${seconds} s` });
    const views = [waiting('5.5'), waiting('3.0'), waiting('0.5'), waiting('9.0', 'llm-0ppq2e ended: gave up')];
    const { stderr } = await follow(views);
    expect(stderr.split('\n').filter((line) => line.includes(' ended: '))).toEqual([
      'llm  waiting             llm-4tq8ws ended: gave up; replaced in 5.5 s',
      'llm  waiting             llm-0ppq2e ended: gave up; replaced in 9.0 s',
    ]);
  });

  it('says what to do under a replica that listens elsewhere, once it is known where [B10]', async () => {
    const reason = 'startup 2 of 60, port 41873 refused; the process listens on 8000';
    const elsewhere = (more: string): ServiceView =>
      serviceView({ ready: 0, replicas: [replicaView('llm-4tq8ws', { reason: more })] });
    const { stderr } = await follow([elsewhere('startup 1 of 60, port 41873 refused'), elsewhere(reason)]);
    expect(stderr).toContain(
      'startup probe: port 41873 refused; the process listens on 8000\n  start it with --port $PORT\n',
    );
    const frame = serviceFrame(elsewhere(reason), nowMs).map((line) => line.map(({ text }) => text).join(''));
    expect(frame[2]).toBe('    start it with --port $PORT');
    expect(serviceInFull(elsewhere(reason), nowMs, 80)).toContain('\n  start it with --port $PORT');
  });

  it('exits with 1 where it failed, with the reason and what to do', async () => {
    const { code, stderr } = await follow([{ ...updating, rollout: rolloutView({ state: 'failed', reason: 'late' }) }]);
    expect(code).toBe(1);
    expect(stderr).toContain('llm  FAILED  rollout to revision 5 failed: late\n  revision 4 serves on');
  });

  it('streams one object a line as --json, the last with the whole service [G15]', async () => {
    const { stdout, stderr } = await follow([updating, done], { json: true });
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { kind: string; ok?: boolean });
    expect(lines.map(({ kind }) => kind)).toEqual([
      'replica',
      'replica',
      'replica',
      'replica',
      'progress',
      'replica',
      'progress',
      'ended',
    ]);
    expect(lines.at(-1)).toMatchObject({ ok: true, service: { name: 'llm', desired: 2 } });
    expect(stderr).toBe('');
  });

  it('lets go on Ctrl-C and stops nothing; says so when the service is removed meanwhile', async () => {
    const letGo = await follow([updating], { signal: 'SIGINT' });
    expect([letGo.code, letGo.stderr.includes('llm  goes on without this command\n  yard services llm')]).toEqual([
      1,
      true,
    ]);
    expect((await follow([updating])).stderr).toContain('llm  was removed');
  });
});
