import { describe, expect, it } from 'vitest';
import { Incarnation } from './incarnation.ts';
import { Machine } from './machine.ts';
import { createRandom } from './random.ts';
import { answerAt, type PortAnswer, runLengthMs, type Serving, wasIll, wasWell } from './serving.ts';
import { createVirtualNetwork } from './virtual-network.ts';
import { World } from './world.ts';

const flapping: Serving = {
  runsMs: [10, 20],
  exitCode: 1,
  opensMs: 100,
  elsewhere: false,
  cycle: [
    { forMs: 1000, answer: 'ok' },
    { forMs: 500, answer: 'error' },
  ],
  missing: false,
};

describe('a command that serves', () => {
  it('answers as its cycle says from when it listens, again and again', () => {
    const answers = [0, 99, 100, 1099, 1100, 1599, 1600, 2600].map((atMs) => answerAt(flapping, atMs));
    expect(answers).toEqual(['closed', 'closed', 'ok', 'ok', 'error', 'error', 'ok', 'error']);
    expect(answerAt({ ...flapping, opensMs: null }, 1e6)).toBe('closed');
  });

  it('was well in a span without a wrong answer only', () => {
    expect(wasWell(flapping, 100, 1000)).toBe(true);
    expect(wasWell(flapping, 0, 1000)).toBe(false);
    expect(wasWell(flapping, 1000, 2000)).toBe(false);
  });

  it('was ill in a span without a right answer only, after its start', () => {
    expect(wasIll(flapping, 1100, 1500)).toBe(true);
    expect(wasIll(flapping, 900, 1500)).toBe(false);
    expect(wasIll(flapping, -100, 50)).toBe(false);
  });

  it('has runs of the lengths that were written, the last for all further ones', () => {
    expect([1, 2, 3].map((run) => runLengthMs(flapping, run))).toEqual([10, 20, 20]);
  });
});

describe('the network of a machine', () => {
  const ask = async (answer: PortAnswer | null) => {
    const world = new World(createRandom(1), () => new Promise((resolve) => process.nextTick(resolve)));
    const machine = new Machine(world, { name: 'm', pids: 100, skewMs: 0, shimReaps: true, hasJournal: true });
    const listener = machine.table.start({ role: 'command', parent: null, leads: true, mark: null, logsIn: null });
    if (answer !== null) machine.listening.set(20_000, { process: listener, answer: () => answer });
    const incarnation = new Incarnation(world, 'agent');
    const network = createVirtualNetwork({ incarnation, machine, latencyMs: () => 1 });
    const seen: unknown[] = [];
    void network.canConnect(20_000, 100).then((it) => seen.push(it));
    void network.httpGet(20_000, '/health', 500).then(({ kind }) => seen.push(kind, world.nowMs));
    void network.isPortFree(20_000).then((it) => seen.push(it));
    await world.run(1000);
    return seen;
  };

  it.each([
    [null, [false, true, 'refused', 1]],
    ['ok', [true, false, 'answered', 1]],
    ['error', [true, false, 'answered', 1]],
    ['closed', [false, false, 'refused', 1]],
    ['hang', [true, false, 'timed-out', 501]],
  ] as const)('with a listener that answers %s says so [X10]', async (answer, expected) => {
    expect(new Set(await ask(answer))).toEqual(new Set(expected));
  });
});
