import { describe, expect, it } from 'vitest';
import type { Command } from '../command.ts';
import type { Fact } from '../fact.ts';
import { taskKeyText } from '../job/job.ts';
import type { Scenario } from '../scenario.testsuite.ts';
import { serviceWalks } from '../service/service-walk.testsuite.ts';
import { silentWalks, walks } from '../walk.testsuite.ts';
import { usageEntries } from './usage.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Time that passes unnoticed between two steps: some of it leads over midnight. */
const pausesMs = [0, 1, 137, 0, 5 * hourMs + 7, 0, 60_001];

/** Jobs of two owners in two projects. */
function varied(commands: readonly Command[]): readonly Command[] {
  return commands.map((command) => {
    if (command.kind !== 'SubmitJob') return command;
    return /[13579]$/.test(command.ids[0] ?? '') ? { ...command, project: 'ml', owner: 'eve' } : command;
  });
}

/** Checks each step of a walk against what its facts say by themselves. */
function check({ at }: { readonly at: Scenario }, commands: readonly Command[]): void {
  if (!at.state.access.projects.has('ml')) at.do({ kind: 'CreateProject', project: 'ml', quota: {}, by: 'root' });
  at.nowMs += pausesMs[at.facts.length % pausesMs.length] ?? 0;
  at.step(...varied(commands));
  expect(folded(at)).toEqual(integrated(at));
}

describe('GPU and core time after any sequence of commands and reports', () => {
  it('is what the facts say that tasks had, each day and owner by itself [X21]', () => {
    walks(60, check);
  });

  it('is so where nodes fall silent, are lost, removed and come back [X21]', () => {
    silentWalks(60, check);
  });

  it('is so of services, whose replicas are charged like any job [X21]', () => {
    serviceWalks(60, check);
  });
});

type Sums = Readonly<Record<string, string>>;

/** What the state says, by day, project and owner. */
function folded(at: Scenario): Sums {
  const sums = new Map<string, readonly [number, number]>();
  for (const { day, project, owner, gpuMs, coreMs } of usageEntries(at.state, at.nowMs)) {
    sum(sums, `${day} ${project} ${owner}`, [gpuMs, coreMs]);
  }
  return written(sums);
}

interface Stretch {
  readonly owner: string;
  readonly node: string;
  readonly gpus: number;
  readonly cpus: number;
  readonly fromMs: number;
}

/** The same out of the facts alone, task by task, as somebody would who reads the log. */
function integrated(at: Scenario): Sums {
  const sums = new Map<string, readonly [number, number]>();
  const owners = new Map<string, string>();
  const open = new Map<string, Stretch>();
  const close = (isMeant: (task: string, stretch: Stretch) => boolean, toMs: number): void => {
    for (const [task, stretch] of [...open]) {
      if (!isMeant(task, stretch)) continue;
      open.delete(task);
      share(sums, stretch, toMs);
    }
  };
  for (const { fact, nowMs } of at.facts) {
    if (fact.kind === 'JobSubmitted') owners.set(fact.job, `${fact.project} ${fact.owner}`);
    if (fact.kind === 'AttemptPlaced') {
      for (const [rank, { node, devices, cpus }] of fact.tasks.entries()) {
        const owner = owners.get(fact.job) ?? '';
        open.set(taskKeyText({ ...fact, rank }), { owner, node, gpus: devices.length, cpus, fromMs: nowMs });
      }
    }
    const closes = letsGo(fact);
    if (closes !== null) close(closes, nowMs);
  }
  for (const stretch of open.values()) share(sums, stretch, at.nowMs);
  return written(sums);
}

/** Which tasks a fact takes what they had from, or leaves with it though their attempt goes on without them. */
function letsGo(fact: Fact): ((task: string, stretch: Stretch) => boolean) | null {
  switch (fact.kind) {
    case 'AttemptEnded': {
      const [own, attempt] = [`${fact.job}.${fact.index}.`, `.${fact.attempt}`];
      return (task) => task.startsWith(own) && task.endsWith(attempt);
    }
    case 'NodeFault':
    case 'NodeLost':
      return fact.held ? (task) => task === taskKeyText(fact) : null;
    case 'NodeRemoved':
      return (_, { node }) => node === fact.node;
    default:
      return null;
  }
}

function share(sums: Map<string, readonly [number, number]>, stretch: Stretch, toMs: number): void {
  const { owner, gpus, cpus, fromMs } = stretch;
  for (let day = Math.floor(fromMs / dayMs); day * dayMs < toMs; day += 1) {
    const ms = Math.min(toMs, (day + 1) * dayMs) - Math.max(fromMs, day * dayMs);
    if (ms > 0) sum(sums, `${day} ${owner}`, [gpus * ms, cpus * ms]);
  }
}

function sum(
  sums: Map<string, readonly [number, number]>,
  name: string,
  [gpuMs, coreMs]: readonly [number, number],
): void {
  const [gpus, cores] = sums.get(name) ?? [0, 0];
  sums.set(name, [gpus + gpuMs, cores + coreMs]);
}

/** Core time to the thousandth of a millisecond: floating point adds up in another order here. */
function written(sums: ReadonlyMap<string, readonly [number, number]>): Sums {
  return Object.fromEntries([...sums].map(([name, [gpuMs, coreMs]]) => [name, `${gpuMs} ${coreMs.toFixed(3)}`]));
}
