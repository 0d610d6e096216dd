import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Command } from '../command.ts';
import { type StepResult, step } from '../engine.ts';
import { fromRecords, toRecords } from '../records.ts';
import { contextAt, exited, gpus, Scenario } from '../scenario.testsuite.ts';

type Move = readonly [kind: 'submit' | 'end' | 'join' | 'leave' | 'drain' | 'resume', pick: number];

const moves = fc.array(
  fc.tuple(fc.constantFrom('submit', 'submit', 'submit', 'end', 'end', 'join', 'leave', 'drain', 'resume'), fc.nat(20)),
  { maxLength: 60 },
) as fc.Arbitrary<Move[]>;

const shapes = [{ cpus: 1 }, { cpus: 2, gpus: 1 }, { cpus: 1, gpus: 2 }, { cpus: 3, memoryMiB: 4096 }];

/** Does everything a second time from a state that was just restored and so keeps no rankings. */
class Doubled extends Scenario {
  placed = 0;

  override step(...commands: readonly Command[]): StepResult {
    const restored = fromRecords(toRecords(this.state));
    const again = step(restored, commands, contextAt(this.nowMs, restored));
    const result = super.step(...commands);
    expect(again.facts).toEqual(result.facts);
    this.placed += result.facts.filter(({ kind }) => kind === 'AttemptPlaced').length;
    return result;
  }
}

function move(at: Scenario, [kind, pick]: Move): void {
  const node = `n${pick % 5}`;
  switch (kind) {
    case 'submit':
      at.submit({ resources: shapes[pick % shapes.length] ?? {}, nodes: pick % 7 === 0 ? 2 : 1 });
      break;
    case 'end': {
      const running = [...at.state.jobs.values()].filter((job) => job.live > 0);
      const job = running[pick % Math.max(1, running.length)];
      if (job?.settings.nodes === 1) at.report(at.key(job.id), exited(0));
      break;
    }
    case 'join':
      at.join(node, { cpus: 4 + (pick % 3), gpus: gpus(node, pick % 4) });
      break;
    case 'leave':
      if (at.state.nodes.has(node)) at.leave(node);
      break;
    case 'drain':
      if (at.state.nodes.has(node)) at.do({ kind: 'DrainNode', node, reason: 'x', by: 'ada', deadlineMs: null });
      break;
    case 'resume':
      if (at.state.nodes.has(node)) at.do({ kind: 'ResumeNode', node, by: 'ada' });
      break;
  }
}

describe('rankings that are kept from pass to pass', () => {
  it('choose the very nodes that new ones would [G7] [I6]', () => {
    let placed = 0;
    fc.assert(
      fc.property(moves, (all) => {
        const at = new Doubled();
        at.join('n0', { cpus: 8, gpus: gpus('n0', 4) });
        for (const one of all) move(at, one);
        placed += at.placed;
      }),
      { numRuns: 60 },
    );
    expect(placed).toBeGreaterThan(50);
  });
});
