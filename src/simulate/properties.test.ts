import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { PartRecord } from './ledger/ledger.ts';
import type { NodeGroup, Plan, Work } from './plan.ts';
import { simulate } from './simulate.ts';

const minuteMs = 60_000;
const times = fc.integer({ min: 0, max: 300 }).map((minutes) => minutes * minuteMs);
const spread = fc.tuple(times, times, times).map((all) => {
  const [minMs = 0, meanMs = 0, maxMs = 0] = [...all].sort((a, b) => a - b);
  return { minMs, meanMs, maxMs };
});

const group: fc.Arbitrary<Omit<NodeGroup, 'name'>> = fc.record({
  names: fc.constant(null),
  count: fc.integer({ min: 1, max: 4 }),
  cpus: fc.integer({ min: 1, max: 8 }),
  memoryMiB: fc.constant(4096),
  gpus: fc.integer({ min: 0, max: 3 }),
  gpuType: fc.constantFrom('H100', 'A40'),
  gpuMemoryMiB: fc.constant(1024),
  labels: fc.constant({}),
  fromMs: fc.oneof(fc.constant(0), times),
  untilMs: fc.oneof(
    fc.constant(null),
    times.map((ms) => ms + 300 * minuteMs),
  ),
  failures: fc.oneof(fc.constant(null), fc.record({ everyMs: times.map((ms) => ms + 1000), repairMs: times })),
});

const settings = fc.record(
  {
    nodes: fc.integer({ min: 1, max: 2 }),
    resources: fc.record({ cpus: fc.integer({ min: 0, max: 4 }), gpus: fc.constantFrom<number | 'all'>(0, 1, 'all') }),
    priority: fc.integer({ min: -1, max: 1 }),
    retry: fc.record({ maxAttempts: fc.integer({ min: 1, max: 3 }), onExit: fc.constant([75]) }),
    timeoutMs: times.map((ms) => ms + 1000),
    onNodeLoss: fc.constantFrom('replace', 'wait', 'fail'),
  },
  { requiredKeys: [] },
);
const array = fc.record({
  size: fc.integer({ min: 1, max: 6 }),
  maxRunning: fc.oneof(fc.constant(null), fc.constant(2)),
});

const work: fc.Arbitrary<Omit<Work, 'name'>> = fc
  .record({
    isService: fc.boolean(),
    values: settings,
    array: fc.oneof(fc.constant(null), array),
    replicas: fc.integer({ min: 0, max: 3 }),
    atMs: times,
    every: fc.oneof(fc.constant(null), spread),
    count: fc.integer({ min: 1, max: 8 }),
    runs: spread,
    share: fc.constantFrom(0, 0.3, 1),
  })
  .map(({ isService, values, array: parts, replicas, atMs, every, count, runs, share }) => {
    const { timeoutMs: _timeoutMs, ...lasting } = values;
    const own = isService ? { ...lasting, kind: 'service' as const, replicas } : { ...values, array: parts };
    return {
      kind: isService ? 'service' : 'job',
      layers: [{ origin: 'x', values: own }],
      ...{ atMs, every: isService ? null : every, count: isService ? 1 : count, runs },
      exit: { share, code: 75 },
    };
  });

const plan: fc.Arbitrary<Plan> = fc
  .record({
    untilMs: fc.oneof(
      fc.constant(null),
      times.map((ms) => ms + minuteMs),
    ),
    seed: fc.nat(1000),
    groups: fc.array(group, { minLength: 1, maxLength: 3 }),
    works: fc.array(work, { minLength: 1, maxLength: 4 }),
  })
  .map(({ untilMs, seed, groups, works }) => ({
    ...{ title: 'x', startMs: null, untilMs, seed, trace: [], notes: [] },
    nodes: groups.map((one, position) => ({ ...one, name: `n${position}-%d` })),
    work: works.map((one, position) => ({ ...one, name: `w${position}` })),
  }));

it('comes to its end for any cluster and work, accounts for every part, and does so twice alike [B9] [I6]', () => {
  fc.assert(
    fc.property(plan, (one) => {
      const parts: PartRecord[] = [];
      const report = simulate(one, { onPart: (record) => parts.push(record) });
      expect(JSON.stringify(simulate(one))).toBe(JSON.stringify(report));
      const over = parts.filter(({ ended }) => ended !== null);
      expect(over.length).toBeLessThanOrEqual(report.ended);
      expect(report.kinds.reduce((sum, { unended }) => sum + unended, 0)).toBe(report.parts - countEnded(report));
      for (const { submittedMs, startedMs, endedMs } of parts) {
        expect(startedMs ?? submittedMs).toBeGreaterThanOrEqual(submittedMs);
        expect(endedMs ?? report.endMs).toBeGreaterThanOrEqual(startedMs ?? submittedMs);
      }
      for (const used of [report.utilisation.cores, report.utilisation.gpus]) {
        expect(used?.peak ?? 0).toBeLessThanOrEqual(1);
        expect(used?.mean ?? 0).toBeLessThanOrEqual(1);
      }
      for (const { unended } of report.kinds) expect(unended).toBeGreaterThanOrEqual(0);
      for (const { hours, message } of report.waiting) expect([hours >= 0, message !== '']).toEqual([true, true]);
    }),
    { numRuns: 40 },
  );
});

function countEnded({ kinds }: ReturnType<typeof simulate>): number {
  return kinds.reduce((sum, { ended }) => sum + Object.values(ended).reduce((a, b) => a + b, 0), 0);
}
