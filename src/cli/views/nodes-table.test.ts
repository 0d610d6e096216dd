import { describe, expect, it } from 'vitest';
import type { ListedNode } from '../../client/api.ts';
import { nodeInFull, nodesTable } from './nodes-table.ts';

const nowMs = Date.UTC(2026, 0, 1);
const at = (ms: number) => new Date(nowMs + ms).toISOString();

function node(more: Partial<ListedNode> = {}): ListedNode {
  return {
    id: 'n1',
    state: 'READY',
    reason: null,
    leased: true,
    drainDeadlineAt: null,
    cpus: 4,
    memoryMiB: 8192,
    gpus: [],
    labels: {},
    free: { cpus: 4, memoryMiB: 8192, gpus: 0 },
    tasks: [],
    advertise: '10.0.0.1',
    platform: 'linux',
    version: '0.1.0',
    agentRunning: true,
    heardAt: at(-2000),
    ...more,
  };
}

const why = (more: Partial<ListedNode>) => {
  const [, row = ''] = nodesTable([node(more)], nowMs, null).split('\n');
  return row
    .split(/\s{2,}/)
    .slice(6)
    .join('  ')
    .trim();
};

describe('why a node is not simply ready', () => {
  it('is when it was last heard, where it is missed [B10]', () => {
    expect(why({ state: 'SUSPECT', agentRunning: false, heardAt: at(-42_000) })).toBe('heard 42 s ago');
    expect(why({ state: 'LOST', heardAt: at(-300_000), reason: '2 tasks may still run there' })).toBe(
      'heard 5 min ago; 2 tasks may still run there',
    );
    expect(why({ state: 'SUSPECT', heardAt: null })).toBe('not heard since the server started');
  });

  it('is that many are silent together, and none is declared lost [B10]', () => {
    const reason = '3 of 12 nodes are silent together: none is declared lost';
    expect(why({ state: 'SUSPECT', heardAt: at(-42_000), reason })).toBe(`heard 42 s ago; ${reason}`);
  });

  it('is when what is left on it will be stopped, as long as something is [B10]', () => {
    const drained = { reason: 'new disk', drainDeadlineAt: at(9 * 60_000) } as const;
    expect(why({ ...drained, state: 'DRAINING', tasks: ['j-1.0.0.1'] })).toBe('new disk; stopped in 9 min');
    expect(why({ ...drained, state: 'DRAINED' })).toBe('new disk');
    expect(why({ ...drained, state: 'DRAINING', tasks: ['j-1.0.0.1'], drainDeadlineAt: at(-1) })).toBe(
      'new disk; being stopped',
    );
  });

  it('is nothing when it is ready or its agent has ended, and that none runs when none does', () => {
    expect([why({}), why({ state: 'DOWN', agentRunning: false }), why({ agentRunning: false })]).toEqual([
      '',
      '',
      'its agent is not running',
    ]);
  });

  it('leaves it open how much memory a GPU has that does not tell', () => {
    const gpus = [
      { uuid: 'GPU-a', index: 0, name: 'NVIDIA GB10', memoryMiB: 0 },
      { uuid: 'GPU-b', index: 1, name: 'NVIDIA H100', memoryMiB: 81_920 },
    ];
    expect(nodeInFull(node({ gpus }), nowMs)).toContain('0: NVIDIA GB10 (memory unknown), 1: NVIDIA H100 80 GiB');
  });

  it('stands beside the state of a node in full', () => {
    expect(nodeInFull(node({ state: 'SUSPECT', heardAt: at(-42_000) }), nowMs)).toContain(
      '  state    SUSPECT  heard 42 s ago',
    );
  });
});
