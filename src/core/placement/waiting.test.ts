import { describe, expect, it } from 'vitest';
import { type WaitReason, waitReasons } from '../reason.ts';
import { exited, gpus, Scenario } from '../scenario.testsuite.ts';
import { ServiceScenario } from '../service/service-scenario.testsuite.ts';
import { whyWaiting } from './waiting.ts';

function why(at: Scenario, id: string): string | null {
  const waiting = whyWaiting(at.state, at.job(id), at.nowMs);
  return waiting === null ? null : `${waiting.reason}: ${waiting.message}`;
}

function scenario(...nodes: Parameters<Scenario['join']>[]): Scenario {
  const at = new Scenario();
  for (const node of nodes) at.join(...node);
  return at;
}

/** For each reason, a job that waits for it, and the sentence. */
const cases: { readonly [Reason in WaitReason]: () => [Scenario, string, string] } = {
  'no-node': () => {
    const at = new Scenario();
    return [at, at.submit(), 'no node is running'];
  },
  'no-fit': () => {
    const at = scenario(['n1', { gpus: gpus('n1', 1) }], ['n2', { gpus: gpus('n2', 2) }]);
    return [
      at,
      at.submit({ resources: { gpus: 4, gpuType: 'H100', gpuMemoryMiB: 40_960 } }),
      'needs 4 GPUs (H100, at least 40GiB), the largest node has 2 GPUs',
    ];
  },
  busy: () => {
    const at = scenario(['n1', { gpus: gpus('n1', 4) }]);
    at.submit({ resources: { gpus: 3 } });
    return [at, at.submit({ resources: { gpus: 2 } }), 'needs 2 GPUs, only 1 GPU free where it fits'];
  },
  'array-limit': () => {
    const at = scenario(['n1']);
    return [at, at.submit({ array: { size: 3, maxRunning: 1 } }), 'runs 1 at once, as many as it may'];
  },
  backoff: () => {
    const at = scenario(['n1']);
    const id = at.submit({ retry: { maxAttempts: 3, onExit: [75] } });
    at.report(at.key(id), exited(75));
    return [at, id, 'attempt 2 starts in 1.0 s (exited with code 75)'];
  },
  unconfirmed: () => {
    const at = scenario(['n1'], ['n2']);
    const id = at.submit({ onNodeLoss: 'wait', retry: { maxAttempts: 2, onExit: [] } });
    at.report(at.key(id), { kind: 'NodeFault', message: 'unkillable', held: true });
    return [at, id, `processes of ${id}.0.0.1 may still run, and it must never run twice`];
  },
  'node-away': () => {
    const at = scenario(['n1']);
    const id = at.submit();
    // Only a node that leaves between placement and readiness leaves a task at this step.
    at.task(id).step = 'claimed';
    return [at, id, 'placed on node n1, which is not connected'];
  },
  'node-lost': () => {
    const at = scenario(['n1', {}, { leased: true }]);
    const id = at.submit({ onNodeLoss: 'wait' });
    at.silence(120_000);
    return [at, id, `node n1 is lost; it waits for it (without it: yard retry ${id})`];
  },
  draining: () => {
    const at = scenario(['n1']);
    at.do({ kind: 'DrainNode', node: 'n1', reason: 'new disk', by: 'ada', deadlineMs: null });
    return [at, at.submit(), 'the nodes that fit are being drained'];
  },
  'too-few-nodes': () => {
    const at = scenario(['n1'], ['n2', { cpus: 1 }]);
    return [at, at.submit({ nodes: 2, resources: { cpus: 2 } }), 'needs 2 nodes at once, 1 could take it'];
  },
  secret: () => {
    const at = scenario(['n1']);
    at.do({ kind: 'SetSecret', project: 'default', name: 'hf', boxes: { [`${'k'.repeat(43)}=`]: 'Ym94' }, by: 'ada' });
    const id = at.submit({}, { env: { HF_TOKEN: { secret: 'hf' } } });
    return [at, id, 'needs secret hf, which no ready node can open: yard secrets set hf'];
  },
  quota: () => {
    const at = scenario(['n1']);
    at.do({ kind: 'CreateProject', project: 'ml', quota: { cores: 3 }, by: 'ada' });
    at.submit({ resources: { cpus: 2 } }, {}, { project: 'ml' });
    const id = at.submit({ resources: { cpus: 2 } }, {}, { project: 'ml' });
    return [at, id, 'needs 2 cores, project ml uses 2 of 3 cores'];
  },
  spread: () => {
    const at = new ServiceScenario(['n1', 0]);
    at.apply({ replicas: 2, spread: 'strict' });
    const sentence = 'needs a node without a replica of llm (spread = "strict"), the one that fits has one';
    return [at, at.ids()[1] ?? '', sentence];
  },
};

describe('why a job waits', () => {
  it.each(Object.keys(waitReasons) as WaitReason[])('is said in one sentence: %s [B10] [I27]', (reason) => {
    const [at, id, sentence] = cases[reason]();
    expect(why(at, id)).toBe(`${reason}: ${sentence}`);
  });

  it('names what is short, with figures and units [B10]', () => {
    const at = scenario(['n1', { cpus: 2, memoryMiB: 4096 }]);
    const waits = (resources: object) => why(at, at.submit({ resources }));
    expect(waits({ cpus: 3 })).toBe('no-fit: needs 3 cores, the largest node has 2 cores');
    expect(waits({ memoryMiB: 8192 })).toBe('no-fit: needs 8GiB of memory, the largest node has 4GiB of memory');
    expect(waits({ gpus: 1 })).toBe('no-fit: needs 1 GPU, the largest node has 0 GPUs');
    expect(waits({ labels: { zone: 'a' } })).toBe('no-fit: no node has the label zone=a');
    at.submit({ resources: { cpus: 1.5, memoryMiB: 3584 } });
    expect(waits({ cpus: 1 })).toBe('busy: needs 1 core, only 0.5 cores free where it fits');
    expect(waits({ cpus: 0.5, memoryMiB: 1024 })).toBe(
      'busy: needs 1GiB of memory, only 512MiB of memory free where it fits',
    );
  });

  it('is nothing for what runs and for what has ended [B10]', () => {
    const at = scenario(['n1']);
    const id = at.submit();
    expect(why(at, id)).toBeNull();
    at.report(at.key(id), exited(0));
    expect(why(at, id)).toBeNull();
  });

  it('is that no node is connected when those there are have left [B10]', () => {
    const at = scenario(['n1']);
    at.leave('n1');
    expect(why(at, at.submit())).toBe('no-node: no node is connected');
  });

  it('says that all is taken where nothing is free [B10]', () => {
    const at = scenario(['n1', { cpus: 1 }]);
    at.submit();
    expect(why(at, at.submit())).toBe('busy: needs 1 core, all taken where it fits');
  });

  it('of several nodes at once counts those that could take it when they are free [B10] [U3]', () => {
    const at = scenario(['n1', { cpus: 1 }], ['n2', { cpus: 1 }]);
    at.submit();
    expect(why(at, at.submit({ nodes: 2 }))).toBe('busy: needs 1 core, all taken where it fits');
  });
});
