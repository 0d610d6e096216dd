import type { NodeView } from '../../core/node/view.ts';
import type { NodeGroup } from '../plan.ts';

/** The nodes that are up as a cluster to simulate: those that offer the same are one group. */
export function presentCluster(nodes: readonly NodeView[]): readonly NodeGroup[] {
  const groups = new Map<string, NodeView[]>();
  for (const node of nodes) {
    if (node.state !== 'READY') continue;
    const key = JSON.stringify([
      node.cpus,
      node.memoryMiB,
      node.labels,
      node.gpus.map(({ name, memoryMiB }) => [name, memoryMiB]),
    ]);
    groups.set(key, [...(groups.get(key) ?? []), node]);
  }
  return [...groups.values()].flatMap((alike) => {
    const [first] = alike;
    return first === undefined ? [] : [groupOf(first, alike.map(({ id }) => id).sort())];
  });
}

function groupOf({ cpus, memoryMiB, gpus, labels }: NodeView, names: readonly string[]): NodeGroup {
  const [gpu] = gpus;
  return {
    name: names.length === 1 ? (names[0] ?? '') : `${names[0]} and ${names.length - 1} like it`,
    names,
    count: names.length,
    cpus,
    memoryMiB,
    gpus: gpus.length,
    gpuType: gpu?.name ?? 'GPU',
    gpuMemoryMiB: gpu?.memoryMiB ?? 0,
    labels,
    fromMs: 0,
    untilMs: null,
    failures: null,
  };
}
