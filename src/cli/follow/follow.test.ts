import { describe, expect, it, vi } from 'vitest';
import type { JobHandle } from '../../client/api.ts';
import { RefusalError } from '../../client/refusal-error.ts';
import type { JobView } from '../../core/job/view.ts';
import type { NodeView } from '../../core/node/view.ts';
import { builtInSettings } from '../../core/profile/settings.ts';
import { type EndReason, endReasons, exitOutcome } from '../../core/reason.ts';
import { refuse } from '../../core/refusal.ts';
import type { CaughtSignal, Context } from '../context.ts';
import { chooseOutput } from '../output/choose.ts';
import { keepStreams } from '../output/fake-streams.testsuite.ts';
import { jobsTable, whyOf } from '../views/jobs-table.ts';
import { outcomeOf } from '../views/part-view.ts';
import { endLine, outputsLine } from './ending.ts';
import { type HeldNode, watchInterrupts } from './interrupts.ts';
import { createNarrator } from './narrator.ts';
import { phaseOf } from './phase.ts';
import { jobView, taskView } from './views.testsuite.ts';
import { whatNext } from './what-next.ts';

const gpu = { uuid: 'GPU-1', index: 0, name: 'H100', memoryMiB: 81920 };
const laptop: NodeView = {
  id: 'laptop',
  state: 'READY',
  reason: null,
  leased: false,
  drainDeadlineAt: null,
  cpus: 8,
  memoryMiB: 16384,
  gpus: [gpu],
  labels: {},
  free: { cpus: 8, memoryMiB: 16384, gpus: 1 },
  tasks: [],
  advertise: '127.0.0.1',
  platform: 'linux',
  version: '0.1.0',
};
const steps = (step: 'claimed' | 'setup' | 'run' | 'collect', devices: readonly string[] = []): JobView =>
  jobView({ state: step === 'claimed' ? 'PENDING' : 'RUNNING', attempt: 1, tasks: [taskView({ step, devices })] });

async function narrate(
  views: readonly JobView[],
  options: { node?: NodeView; hint?: string | null } = {},
): Promise<string> {
  const { streams, stderr } = keepStreams();
  let nowMs = 0;
  const narrator = createNarrator({
    output: chooseOutput(streams, { json: false, quiet: false }),
    hint: options.hint ?? null,
    nodeOf: () => Promise.resolve(options.node ?? null),
    setupShown: () => Promise.resolve(),
    nowMs: () => nowMs,
  });
  for (const view of views) {
    await narrator.see(view);
    nowMs += 12_400;
  }
  narrator.end();
  return stderr();
}

describe('the way of a job, as it is told', () => {
  it('has a line for each restart of work that stays up, with its cause [X1] [X7]', async () => {
    const run = (restarts: number): JobView => {
      const lastFailure = restarts === 0 ? null : 'exited with code 3';
      return jobView({ state: 'RUNNING', attempt: 1, tasks: [taskView({ restarts, lastFailure })] });
    };
    expect(await narrate([run(0), run(1), run(1), run(2)])).toBe(
      `digits-k3f9q2  running on laptop
digits-k3f9q2  restart 1           after: exited with code 3
digits-k3f9q2  restart 2           after: exited with code 3
`,
    );
  });

  it('has a line for setup and one for where it runs, each once [S3]', async () => {
    const ended = jobView({ state: 'COMPLETED', outcome: exitOutcome({ exitCode: 0, signal: null }) });
    const views = [
      steps('claimed'),
      steps('setup'),
      steps('run', ['GPU-1']),
      steps('run', ['GPU-1']),
      steps('collect'),
      ended,
    ];
    expect(await narrate(views, { node: laptop, hint: 'Ctrl-C stops it' })).toBe(`\
digits-k3f9q2  setup               12 s
digits-k3f9q2  running on laptop   gpu 0            Ctrl-C stops it
`);
  });

  it('says that a GPU is free and was not asked for [U5]', async () => {
    expect(await narrate([steps('run')], { node: laptop })).toBe(
      'digits-k3f9q2  running on laptop   no GPU asked for (1 is free: --gpus 1)\n',
    );
  });

  it('names the next attempt and why there is one [U2]', async () => {
    const again = jobView({
      state: 'RUNNING',
      attempt: 2,
      tasks: [taskView({ attempt: 2, lastFailure: 'the node was lost' })],
    });
    expect(await narrate([steps('run'), again])).toContain(
      'digits-k3f9q2  attempt 2           after: the node was lost\n',
    );
  });
});

describe('the end of a job, as it is told', () => {
  it('says how long it took', () => {
    const view = jobView({
      state: 'COMPLETED',
      outcome: exitOutcome({ exitCode: 0, signal: null }),
      startedAt: '2026-01-01T00:00:00.000Z',
      endedAt: '2026-01-01T00:01:08.000Z',
    });
    expect(endLine(view).detail).toBe('exited with code 0 after 1 min 8 s');
  });

  it('says for every way to fail what to do next [U1]', () => {
    for (const reason of Object.keys(endReasons) as EndReason[]) {
      const outcome = { reason, exitCode: reason === 'exit' ? 1 : null, signal: null, message: reason };
      expect(whatNext(jobView({ state: 'FAILED', outcome }))).toHaveLength(1);
    }
  });

  it('names for a replica its service, whatever ended it: retry is refused there [X28]', () => {
    for (const reason of Object.keys(endReasons) as EndReason[]) {
      const outcome = { reason, exitCode: reason === 'exit' ? 1 : null, signal: null, message: reason };
      const [what = ''] = whatNext(jobView({ state: 'FAILED', outcome, service: 'llm', replica: 0 }));
      expect(what).not.toMatch(/retry|--timeout|--max-attempts/);
    }
    const stopped = { reason: 'stopped', exitCode: null, signal: null, message: 'stopped by ada' } as const;
    expect(whatNext(jobView({ state: 'FAILED', outcome: stopped, service: 'llm', replica: 0 }))).toEqual([
      'yard services llm shows what takes its place',
    ]);
  });

  it('asks for twice the memory where the limit killed it', () => {
    const outcome = exitOutcome({ exitCode: null, signal: 9, detail: 'out of memory (limit 16 GiB)' });
    const settings = { ...builtInSettings, resources: { ...builtInSettings.resources, memoryMiB: 16_384 } };
    expect(whatNext(jobView({ state: 'FAILED', outcome, settings }))).toEqual(['--memory 32GiB']);
  });

  it('counts outputs and names what is missing or refused [S5] [C30]', () => {
    const line = outputsLine(
      'digits-k3f9q2',
      [
        { index: null, path: 'metrics.jsonl', state: 'collected', size: 12, landedAt: '/x/metrics.jsonl' },
        { index: null, path: 'model.npz', state: 'collected', size: 12, landedAt: '/x/model.npz' },
        { index: null, path: 'checkpoint.pt', state: 'missing', landedAt: null },
        { index: 3, path: 'pipe', state: 'refused', why: 'it is a fifo', landedAt: null },
      ],
      'outputs/digits-k3f9q2',
    );
    expect(line.detail).toBe(
      '2 collected, 1 missing (checkpoint.pt), 1 refused (3/pipe: it is a fifo) → outputs/digits-k3f9q2',
    );
  });

  it('is that of the one part that was asked for [B4]', () => {
    const bad = exitOutcome({ exitCode: 7, signal: null });
    const array = { size: 2, pending: 0, running: 1, completed: 0, failed: 1 };
    const view = jobView({ array, tasks: [taskView({ index: 0 }), taskView({ index: 1, outcome: bad })] });
    expect([outcomeOf(view, 1), outcomeOf(view, 0), outcomeOf(view, null)]).toEqual([bad, null, null]);
  });
});

describe('the list of jobs', () => {
  it('says why each waits or failed, and how far an array is [B10]', () => {
    const nowMs = Date.parse('2026-01-01T00:05:00.000Z');
    const gpus = (count: number) => ({ ...builtInSettings, resources: { ...builtInSettings.resources, gpus: count } });
    const array = { size: 100, pending: 50, running: 9, completed: 39, failed: 2 };
    const table = jobsTable(
      [
        jobView({
          state: 'COMPLETED',
          outcome: exitOutcome({ exitCode: 0, signal: null }),
          tasks: [taskView()],
          settings: gpus(1),
        }),
        jobView({ id: 'sweep-p0w4aa', state: 'RUNNING', array, tasks: [taskView()], settings: gpus(1) }),
        jobView({
          id: 'llama-7m1xzd',
          waiting: { reason: 'no-fit', message: 'needs 4 GPUs, the largest node has 2' },
          settings: gpus(4),
        }),
      ],
      nowMs,
      null,
    );
    expect(table).toBe(`\
ID             STATE      NODE    GPUS  AGE    WHY
digits-k3f9q2  COMPLETED  laptop  1     5 min
sweep-p0w4aa   RUNNING    laptop  1     5 min  41 of 100 done, 2 failed
llama-7m1xzd   PENDING    –       4     5 min  needs 4 GPUs, the largest node has 2 (yard explain llama-7m1xzd)`);
  });

  it('says of one that runs on a lost node that it waits for it [B10] [X12]', () => {
    const awaited = {
      reason: 'node-lost',
      message: 'node n1 is lost; it waits for it (without it: yard retry j-1)',
    } as const;
    const lost = { ...steps('run'), waiting: awaited };
    expect(whyOf(lost)).toBe(awaited.message);
    expect(phaseOf(lost)).toEqual({ kind: 'waiting', why: awaited.message, attempt: 1 });
    expect(whyOf({ ...lost, array: { size: 9, pending: 0, running: 5, completed: 4, failed: 0 } })).toBe(
      `4 of 9 done; ${awaited.message}`,
    );
  });

  it('names the step of one that does not run yet', () => {
    expect(whyOf(steps('setup'))).toBe('setup');
    expect(whyOf(steps('collect'))).toBe('collecting outputs');
  });
});

describe('signals while a job is followed', () => {
  function setUp(servesNode: boolean, { full = false } = {}) {
    const { streams, stderr } = keepStreams();
    const handlers = new Map<CaughtSignal, () => void>();
    const stops: unknown[] = [];
    const ended: unknown[] = [];
    const job = {
      id: 'a-1',
      stop: (options: unknown) => {
        stops.push(options);
        return full ? Promise.reject(new RefusalError(refuse('STORE_FULL', 'the disk is full'))) : Promise.resolve();
      },
    } as unknown as JobHandle;
    const context = {
      output: chooseOutput(streams, { json: false, quiet: false }),
      onSignal: (signal: CaughtSignal, callback: () => void) => {
        handlers.set(signal, callback);
        return () => handlers.delete(signal);
      },
    } as unknown as Context;
    const node: HeldNode = {
      isOurs: () => servesNode,
      endTasks: (id, options) => Promise.resolve(ended.push([id, options]) > 0),
    };
    const interrupts = watchInterrupts(context, node);
    const send = (signal: CaughtSignal): void => handlers.get(signal)?.();
    return { interrupts, job, stops, ended, stderr, handlers, send };
  }

  it('stop it with its grace, then kill it [S8]', () => {
    const { interrupts, job, stops, send, stderr } = setUp(true);
    interrupts.attach(job, jobView());
    send('SIGINT');
    send('SIGTERM');
    expect(stops).toEqual([{}, { graceMs: 0 }]);
    expect(stderr()).toBe('stopping a-1 (grace 30 s); Ctrl-C again kills it\nkilling a-1\n');
  });

  it('count from before the job had its id', () => {
    const { interrupts, job, stops, send } = setUp(true);
    send('SIGINT');
    interrupts.attach(job, jobView());
    expect(stops).toEqual([{}]);
  });

  it.each(['SIGQUIT', 'SIGHUP'] as const)('let go on %s where the node is another process', (signal) => {
    const { interrupts, job, stops, send } = setUp(false);
    interrupts.attach(job, jobView());
    send(signal);
    expect([interrupts.detached.aborted, stops]).toEqual([true, []]);
  });

  it.each(['SIGQUIT', 'SIGHUP'] as const)('stop it on %s where the command serves the node', (signal) => {
    const { interrupts, job, stops, send } = setUp(true);
    interrupts.attach(job, jobView());
    send(signal);
    expect([interrupts.detached.aborted, stops]).toEqual([false, [{}]]);
  });

  it('end what runs here at the second one, where a full disk refuses the stop, and say that it is not written', async () => {
    const { interrupts, job, send, ended, stderr } = setUp(true, { full: true });
    interrupts.attach(job, jobView());
    send('SIGINT');
    await vi.waitFor(() => expect(stderr()).toMatch(/the disk that holds the log is full; make room, or Ctrl-C again/));
    expect(ended).toEqual([]);
    send('SIGTERM');
    await expect(interrupts.fault).rejects.toMatchObject({
      code: 'STORE_FULL',
      message: expect.stringMatching(/could not be written.*what it ran here has been ended/),
      hint: 'make room, then yard stop a-1',
    });
    expect(ended).toEqual([['a-1', { graceMs: 0 }]]);
  });

  it('end what runs here with its grace where the terminal is lost on a full disk', async () => {
    const { interrupts, job, send, ended } = setUp(true, { full: true });
    interrupts.attach(job, jobView());
    send('SIGHUP');
    await expect(interrupts.fault).rejects.toMatchObject({ code: 'STORE_FULL' });
    expect(ended).toEqual([['a-1', { graceMs: 30_000 }]]);
  });

  it('are refused on a full disk where the node is another process', async () => {
    const { interrupts, job, send, ended } = setUp(false, { full: true });
    interrupts.attach(job, jobView());
    send('SIGINT');
    await expect(interrupts.fault).rejects.toMatchObject({ code: 'STORE_FULL', message: 'the disk is full' });
    expect(ended).toEqual([]);
  });

  it('are given back in the end', () => {
    const { interrupts, handlers } = setUp(true);
    interrupts.end();
    expect(handlers.size).toBe(0);
  });
});
