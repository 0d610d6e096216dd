import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type Fact, factKinds } from '../core/fact.ts';
import { joining, submission } from '../core/scenario.testsuite.ts';
import { HostError } from '../host/files.ts';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';
import { plainFormats } from '../log/formats.ts';
import { createMemoryStore, type MemoryPauses, openMemoryLog } from '../log/memory.ts';
import { ControlPlane } from './control-plane.ts';
import { LeaseKeeper } from './leases.ts';

const directory = mkdtempSync(join(tmpdir(), 'runyard-leases-'));
const processes = createNodeProcesses({ directory: `${directory}/shim` });
afterAll(() => {
  processes.close();
  rmSync(directory, { recursive: true, force: true });
});

const formats = plainFormats<Fact>(factKinds);

/** One machine whose time passes only when a test says so. */
class Lab {
  readonly memory = createMemoryStore();
  readonly faults: unknown[] = [];
  readonly #clock = { wallMs: Date.UTC(2026, 0, 1), bootMs: 1000 };
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();
  readonly #started: AbortController[] = [];
  readonly host: Host = {
    ...createNodeHost(processes),
    clock: { wallMs: () => this.#clock.wallMs, bootMs: () => this.#clock.bootMs, bootId: () => 'boot-1' },
    timers: {
      after: (delayMs, run) => {
        const timer = { atMs: this.#clock.bootMs + delayMs, run };
        this.#timers.add(timer);
        return () => this.#timers.delete(timer);
      },
    },
  };

  /** A process: a control plane over the log, and, in a server, its keeper of leases. */
  async open(pauses: MemoryPauses = {}): Promise<ControlPlane> {
    const log = await openMemoryLog<Fact>(this.memory, this.host, { formats, pauses });
    return ControlPlane.open(log, this.host, (error) => this.faults.push(error));
  }

  async keep(plane: ControlPlane): Promise<LeaseKeeper & { readonly stop: () => void }> {
    const keeper = new LeaseKeeper(plane, this.host, (error) => this.faults.push(error));
    const abort = new AbortController();
    this.#started.push(abort);
    await keeper.start(abort.signal);
    await this.#settle();
    return Object.assign(keeper, { stop: () => abort.abort() });
  }

  /** Time passes second by second; before each, `beat` says who is heard. */
  async pass(ms: number, beat: () => void = () => undefined): Promise<void> {
    for (let passedMs = 0; passedMs < ms; passedMs += 1000) {
      beat();
      await this.jump(1000);
    }
  }

  /** Time passes with nobody there to see it. */
  async jump(ms: number): Promise<void> {
    this.#clock.bootMs += ms;
    this.#clock.wallMs += ms;
    for (const timer of [...this.#timers]) {
      if (timer.atMs > this.#clock.bootMs) continue;
      this.#timers.delete(timer);
      timer.run();
    }
    await this.#settle();
  }

  close(): void {
    for (const abort of this.#started) abort.abort();
  }

  /** Memory needs no time of its own: what was begun is done when the loop has gone round. */
  async #settle(): Promise<void> {
    for (let round = 0; round < 20; round += 1) await new Promise<void>((resolve) => setImmediate(resolve));
    expect(this.faults).toEqual([]);
  }
}

let lab: Lab;
afterEach(() => lab.close());

async function serving(...nodes: readonly string[]) {
  lab = new Lab();
  const plane = await lab.open();
  const keeper = await lab.keep(plane);
  for (const node of nodes) await plane.execute(joining(node, `${node}-i`, {}, { leased: true }));
  const heard = (...names: readonly string[]) => {
    return () => {
      for (const name of names) keeper.heard(name, `${name}-i`);
    };
  };
  return { plane, keeper, heard };
}

const presence = (plane: ControlPlane, node: string) => plane.state.nodes.get(node)?.presence.kind ?? null;

async function kinds(plane: ControlPlane): Promise<readonly string[]> {
  return (await plane.log.readAfter(0)).flatMap(({ facts }) => facts.map(({ kind }) => kind));
}

describe('leases of nodes', () => {
  it('are renewed by heartbeats, and nothing is appended [I28]', async () => {
    const { plane, heard } = await serving('n1', 'n2');
    const before = plane.seq;
    await lab.pass(180_000, heard('n1', 'n2'));
    expect(plane.seq).toBe(before);
    expect([presence(plane, 'n1'), presence(plane, 'n2')]).toEqual(['up', 'up']);
    const leases = new Map((await plane.log.readLeases()).map((lease) => [lease.name, lease]));
    expect(leases.get('node/n1')).toMatchObject({ holder: 'n1-i', epoch: 1 });
    expect(plane.nowMs() - (leases.get('node/n1')?.heardAtMs ?? 0)).toBeLessThanOrEqual(1000);
  });

  it('end when their node falls silent: suspect, then lost; another is not touched by it [X12]', async () => {
    const { plane, heard } = await serving('n1', 'n2');
    await lab.pass(29_000, heard('n2'));
    expect(presence(plane, 'n1')).toBe('up');
    await lab.pass(2000, heard('n2'));
    expect(presence(plane, 'n1')).toBe('suspect');
    await lab.pass(88_000, heard('n2'));
    expect(presence(plane, 'n1')).toBe('suspect');
    await lab.pass(3000, heard('n2'));
    expect([presence(plane, 'n1'), presence(plane, 'n2')]).toEqual(['lost', 'up']);
  });

  it('end for the only node as well: looking at the log is no outage [X12]', async () => {
    const { plane } = await serving('n1');
    await lab.pass(125_000);
    expect(presence(plane, 'n1')).toBe('lost');
  });

  it('that ended are good again with the next heartbeat [X12]', async () => {
    const { plane, heard } = await serving('n1');
    await lab.pass(40_000);
    expect(presence(plane, 'n1')).toBe('suspect');
    await lab.pass(2000, heard('n1'));
    expect(presence(plane, 'n1')).toBe('up');
    expect((await kinds(plane)).filter((kind) => kind !== 'NodeJoined')).toEqual(['NodeSuspected', 'NodeResponded']);
  });

  it('are not renewed by an agent that another has taken over from [I14]', async () => {
    const { plane, keeper } = await serving('n1');
    await plane.execute(joining('n1', 'clone', {}, { leased: true }));
    await lab.pass(32_000, () => keeper.heard('n1', 'n1-i'));
    expect(presence(plane, 'n1')).toBe('suspect');
  });

  it('start long when the server does: nobody was heard while it was away, and nobody is lost for it [X12] [G10]', async () => {
    const { plane, keeper } = await serving('n1', 'n2', 'n3');
    keeper.stop();
    await lab.jump(45_000);
    const again = await lab.open();
    await lab.keep(again);
    await lab.pass(295_000);
    expect(presence(again, 'n1')).toBe('up');
    await lab.pass(10_000);
    expect(presence(again, 'n1')).toBe('suspect');
    await plane.close();
  });

  it('are made long by the commit that notices an outage, whoever makes it [X12]', async () => {
    const { plane, heard } = await serving('n1');
    await lab.pass(10_000, heard('n1'));
    // The machine was suspended for an hour; a command comes before anybody has looked at the leases.
    const command = await lab.open();
    await lab.jump(3_600_000);
    await command.execute(submission('a-222222'));
    await lab.pass(250_000);
    expect(presence(plane, 'n1')).toBe('up');
    await lab.pass(60_000);
    expect(presence(plane, 'n1')).toBe('suspect');
  });

  it('stay long though a heartbeat came just before the process stood still and is read after it [X12]', async () => {
    const { plane, keeper, heard } = await serving('n1');
    await lab.pass(10_000, heard('n1'));
    keeper.heard('n1', 'n1-i');
    const command = await lab.open();
    await lab.jump(3_600_000);
    await command.execute(submission('a-222222'));
    await lab.pass(250_000);
    expect(presence(plane, 'n1')).toBe('up');
  });

  it('are long when the process stood still, and the first look after it decides nothing [C28]', async () => {
    const { plane, heard } = await serving('n1');
    await lab.pass(10_000, heard('n1'));
    await lab.jump(40_000);
    expect(presence(plane, 'n1')).toBe('up');
    await lab.pass(5000, heard('n1'));
    expect(await kinds(plane)).toEqual(['NodeJoined']);
  });

  it('are decided on under the lock: a heartbeat that another process wrote meanwhile counts [I14]', async () => {
    const { plane } = await serving('n1');
    await lab.pass(29_000);
    const other = await lab.open();
    await other.log.renewLeases([{ name: 'node/n1', holder: 'n1-i', forMs: 30_000, heard: true }]);
    await plane.execute({ kind: 'CheckLeases', nodes: ['n1'] });
    await lab.pass(3000);
    expect(presence(plane, 'n1')).toBe('up');
  });

  it('leave nodes of the home alone: those stand still while nobody serves them [B3]', async () => {
    lab = new Lab();
    const plane = await lab.open();
    await plane.execute(joining('home', 'i'));
    await lab.keep(plane);
    await lab.pass(200_000);
    expect(await kinds(plane)).toEqual(['NodeJoined']);
    expect(await plane.log.readLeases()).toEqual([]);
  });

  it('that are gone from the log are given anew, and long', async () => {
    const { plane } = await serving('n1');
    await plane.log.dropLease('node/n1', 'n1-i');
    await lab.pass(2000);
    expect((await plane.log.readLeases()).map(({ name, heardAtMs }) => [name, heardAtMs === null])).toContainEqual([
      'node/n1',
      false,
    ]);
    await lab.pass(200_000);
    expect(presence(plane, 'n1')).toBe('up');
  });

  it('stand still while the disk is full, from the start of a server on: nobody is missed for what it could not write', async () => {
    const { plane, keeper } = await serving('n1');
    await plane.execute(submission('a-222222'));
    keeper.stop();
    await lab.jump(50_000);
    let isFull = false;
    const again = await lab.open({
      beforeLock: async () => {
        if (isFull) throw new HostError('ENOSPC', 'no space left on the device', null);
      },
    });
    isFull = true;
    await lab.keep(again);
    await lab.pass(200_000);
    expect(presence(again, 'n1')).toBe('up');
    isFull = false;
    await lab.pass(250_000);
    expect(presence(again, 'n1')).toBe('up');
    await lab.pass(60_000);
    expect(presence(again, 'n1')).toBe('suspect');
  });
});
