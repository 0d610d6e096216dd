import { describe, expect, it } from 'vitest';
import type { Command } from './command.ts';
import { decide } from './decide.ts';
import { factSubject } from './describe.ts';
import { step } from './engine.ts';
import { evolve } from './evolve.ts';
import type { Fact } from './fact.ts';
import { type Job, jobState, taskKeyText } from './job/job.ts';
import { type JobState, jobMoves } from './job/lifecycle.ts';
import type { Node } from './node/node.ts';
import { place } from './placement/place.ts';
import { comesBefore } from './placement/shape-queue.ts';
import { whyWaiting } from './placement/waiting.ts';
import { fromRecords, toRecords } from './records.ts';
import { isRefusal } from './refusal.ts';
import type { State } from './state.ts';
import { liveTasks, recordsText, silentWalks, type Walk, walks } from './walk.testsuite.ts';

describe('any sequence of commands and reports', () => {
  it('is decided purely: the same facts twice, the state untouched, nothing thrown [I6]', () => {
    walks(40, ({ at }, commands, before) => {
      for (const command of commands) {
        const first = decide(at.state, command, at.context());
        expect(decide(at.state, command, at.context())).toEqual(first);
      }
      expect(recordsText(at.state)).toBe(before);
      at.step(...commands);
    });
  });

  it('is refused without a trace [I26]', () => {
    walks(40, ({ at }, commands) => {
      for (const command of commands) {
        const before = recordsText(at.state);
        if (isRefusal(decide(at.state, command, at.context()))) {
          const { facts, answers } = at.step(command);
          expect(facts).toEqual([]);
          expect(recordsText(at.state)).toBe(before);
          expect(answers.every(isRefusal)).toBe(true);
        } else {
          at.step(command);
        }
      }
    });
  });

  it('allocates no more than there is, and each GPU once [I8] [I10]', () => {
    walks(40, ({ at }, commands) => {
      at.step(...commands);
      for (const each of at.state.nodes.values()) checkAllocations(each);
      for (const { key, node: on } of liveTasks(at.state)) {
        const task = at.task(key.job, key.index, key.rank);
        const allocation = at.state.nodes
          .get(on)
          ?.allocations.get(`${key.job}.${key.index}.${key.rank}.${key.attempt}`);
        if (task.step !== 'ended') expect(allocation?.devices).toEqual(task.devices);
      }
    });
  });

  it('gives the state that its facts give from nothing [I4]', () => {
    walks(40, ({ at }, commands) => {
      at.step(...commands);
      expect(recordsText(at.replayed())).toBe(recordsText(at.state));
    });
  });

  it('goes on from a snapshot exactly as without one [I5] [X28]', () => {
    walks(40, ({ at }, commands) => {
      const restored = fromRecords(toRecords(at.state));
      expect(recordsText(restored)).toBe(recordsText(at.state));
      const { facts } = at.step(...commands, { kind: 'Tick' });
      const again = step(restored, [...commands, { kind: 'Tick' }], at.context(restored));
      expect(again.facts).toEqual(facts);
      expect(recordsText(restored)).toBe(recordsText(at.state));
    });
  });

  it('leaves nothing unplaced that fits, and keeps maxRunning [G7] [B4]', () => {
    walks(40, ({ at }, commands) => {
      at.step(...commands, { kind: 'Tick' });
      expect(place(fromRecords(toRecords(at.state)), at.nowMs, 10)).toEqual([]);
      for (const job of at.state.jobs.values()) {
        expect(job.live).toBeLessThanOrEqual(job.settings.array?.maxRunning ?? Number.POSITIVE_INFINITY);
        checkCounts(job);
      }
    });
  });

  it('places best first: by priority, then by submission, within a shape [B6] [G7]', () => {
    walks(40, ({ at }, commands) => {
      const waiting = new Map([...at.state.jobs].map(([id, job]) => [id, job.cursor === 0 && job.requeued.size === 0]));
      const { facts } = at.step(...commands, { kind: 'Tick' });
      const placed = facts.flatMap((fact) => (fact.kind === 'AttemptPlaced' ? [at.job(fact.job)] : []));
      for (const job of at.state.jobs.values()) {
        if (waiting.get(job.id) !== true || job.elements.size > 0 || job.settings.array !== null) continue;
        for (const other of placed) {
          if (
            JSON.stringify([job.settings.nodes, job.settings.resources]) !==
            JSON.stringify([other.settings.nodes, other.settings.resources])
          )
            continue;
          expect(comesBefore(job, other)).toBe(false);
        }
      }
    });
  });

  it('moves jobs only as the table of moves says, fact by fact, and out of no terminal state [U1] [I13]', () => {
    walks(40, ({ at }, commands) => {
      const shadow = fromRecords(toRecords(at.state));
      const { facts } = at.step(...commands);
      for (const fact of facts) {
        const job = factSubject(fact).job ?? '';
        const from = stateIn(shadow, job);
        evolve(shadow, fact, at.context());
        const to = stateIn(shadow, job);
        if (from !== to && from !== null && to !== null) expect(jobMoves[from]).toContain(to);
      }
      const ended = facts.flatMap((fact) => (fact.kind === 'JobEnded' ? [fact.job] : []));
      expect(new Set(ended).size).toBe(ended.length);
    });
  });

  it('leaves every job running, or waiting for a stated reason, or held until its processes are gone [I27] [B10]', () => {
    walks(40, ({ at }, commands) => {
      at.step(...commands, { kind: 'Tick' });
      for (const job of at.state.jobs.values()) {
        const waits = whyWaiting(at.state, job, at.nowMs) !== null;
        const isHeld = [...at.state.derived.held].some((key) => key.startsWith(`${job.id}.`));
        const acts = [...job.elements.values()].some(
          (one) => one.kind === 'live' && one.tasks.some((task) => task.step !== 'ended'),
        );
        expect(job.outcome === null ? waits || acts : isHeld).toBe(true);
      }
    });
  });

  it('says nothing twice: what a node says in order adds no fact when it says it again [I28] [R4.29]', () => {
    walks(40, ({ at }, commands, _, made) => {
      at.step(...commands);
      if (made.kind !== 'report' || made.how !== 'next') return;
      for (const report of commands) {
        if (!isRefusal(decide(at.state, report, at.context()))) expect(at.step(report).facts).toEqual([]);
      }
    });
  });
});

describe('any sequence in which nodes fall silent', () => {
  it('starts work that must never run twice anew only once the last copy is confirmed gone, or a person asked [I12]', () => {
    const known = new WeakMap<Walk, Copies>();
    silentWalks(30, (walk, commands) => {
      const { at } = walk;
      const copies = known.get(walk) ?? new Copies();
      known.set(walk, copies);
      for (const command of commands) {
        const shadow = fromRecords(toRecords(at.state));
        copies.before(shadow, command);
        for (const fact of at.step(command).facts) {
          if (fact.kind === 'AttemptPlaced' && at.job(fact.job).settings.onNodeLoss === 'wait') {
            const element = shadow.jobs.get(fact.job)?.elements.get(fact.index);
            const isAsked = element?.kind === 'pending' && element.retryAsked;
            expect(isAsked ? [] : copies.of(fact.job, fact.index)).toEqual([]);
          }
          copies.after(fact, command);
          evolve(shadow, fact, at.context());
        }
      }
    });
  });

  it('ends every attempt and every job once [I13]', () => {
    silentWalks(30, ({ at }, commands) => {
      const ends = at.step(...commands).facts.flatMap((fact) => {
        if (fact.kind === 'JobEnded') return [fact.job];
        return fact.kind === 'AttemptEnded' ? [`${fact.job}.${fact.index}.${fact.attempt}`] : [];
      });
      expect(new Set(ends).size).toBe(ends.length);
    });
  });

  it('declares nodes lost only when they are leased, were suspect or had left, and are not silent together [X12]', () => {
    silentWalks(30, ({ at }, commands) => {
      const shadow = fromRecords(toRecords(at.state));
      for (const fact of at.step(...commands).facts) {
        if (fact.kind === 'NodeDeclaredLost') {
          const node = shadow.nodes.get(fact.node);
          expect(node?.leased).toBe(true);
          expect(['suspect', 'down']).toContain(node?.presence.kind);
          if (fact.by === null) expect(shadow.lossHeld).toBeNull();
        }
        evolve(shadow, fact, at.context());
      }
    });
  });

  it('leaves nothing on a lost node undecided but what waits for it, and releases all that it holds with it [I9] [I27]', () => {
    silentWalks(30, ({ at }, commands) => {
      at.step(...commands);
      const { nodes, derived, jobs } = at.state;
      for (const { key, node } of liveTasks(at.state)) {
        const job = jobs.get(key.job);
        if (job === undefined || nodes.get(node)?.presence.kind !== 'lost') continue;
        const task = at.task(key.job, key.index, key.rank);
        expect(task.step === 'ended' || job.settings.onNodeLoss === 'wait').toBe(true);
      }
      const held = [...nodes.values()].flatMap(({ allocations }) => {
        return [...allocations].filter(([, one]) => one.held).map(([key]) => key);
      });
      expect(new Set(held)).toEqual(derived.held);
    });
  });
});

/** Copies of tasks that may run, as the nodes alone know it: told by what they say, never by what was decided. */
class Copies {
  readonly #nodes = new Map<string, string>();

  of(job: string, index: number): readonly string[] {
    return [...this.#nodes.keys()].filter((key) => key.startsWith(`${job}.${index}.`));
  }

  /** A reboot ends all of a node; whoever removes a lost node vouches for it. */
  before(state: State, command: Command): void {
    if (command.kind !== 'JoinNode' && command.kind !== 'RemoveNode') return;
    const known = state.nodes.get(command.node);
    const isGone = command.kind === 'JoinNode' ? known?.bootId !== command.bootId : known?.presence.kind === 'lost';
    for (const [key, node] of this.#nodes) if (isGone && node === command.node) this.#nodes.delete(key);
  }

  after(fact: Fact, command: Command): void {
    if (fact.kind === 'AttemptPlaced') {
      for (const [rank, { node }] of fact.tasks.entries()) this.#nodes.set(taskKeyText({ ...fact, rank }), node);
    }
    if (fact.kind === 'AllocationReleased') this.#nodes.delete(fact.task);
    const ends = ['JobExited', 'SetupFailed', 'OutputsCollected', 'NodeFault', 'NodeLost'];
    if (command.kind !== 'NodeReport' || !('rank' in fact) || !ends.includes(fact.kind)) return;
    if (!('held' in fact && fact.held)) this.#nodes.delete(taskKeyText(fact));
  }
}

function stateIn(state: State, id: string): JobState | null {
  const job = state.jobs.get(id);
  return job === undefined ? null : jobState(job);
}

function checkAllocations(each: Node): void {
  let cpus = 0;
  let memoryMiB = 0;
  const devices: string[] = [];
  for (const allocation of each.allocations.values()) {
    cpus += allocation.cpus;
    memoryMiB += allocation.memoryMiB;
    devices.push(...allocation.devices);
  }
  expect(cpus).toBeLessThanOrEqual(each.capacity.cpus);
  expect(memoryMiB).toBeLessThanOrEqual(each.capacity.memoryMiB);
  expect(new Set(devices).size).toBe(devices.length);
  const known = new Set(each.capacity.gpus.map((gpu) => gpu.uuid));
  expect(devices.every((device) => known.has(device))).toBe(true);
}

function checkCounts(job: Job): void {
  const kinds = [...job.elements.values()].map((one) => one.kind);
  expect(job.live).toBe(kinds.filter((kind) => kind === 'live').length);
  expect(job.completed + job.failed).toBe(kinds.filter((kind) => kind === 'ended').length);
  expect(job.requeued.size).toBe(kinds.filter((kind) => kind === 'pending').length);
}
