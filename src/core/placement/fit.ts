import type { Allocation } from '../job/facts.ts';
import { type FreeCapacity, freeCapacity, type Gpu, type Node } from '../node/node.ts';
import type { Needs } from '../profile/settings.ts';
import { type ClosedSecret, nothingClosed } from '../secrets/openers.ts';
import { writeSize } from '../units.ts';

/** Why a task does not go onto a node now, most lasting cause first. */
export type WhyNot =
  | { readonly kind: 'away' }
  | { readonly kind: 'draining' }
  | { readonly kind: 'labels'; readonly label: string }
  | { readonly kind: 'secret'; readonly name: string }
  | {
      readonly kind: 'never';
      readonly what: 'GPUs' | 'cores' | 'memory';
      readonly needs: number;
      readonly has: number;
      readonly detail: string | null;
    }
  | {
      readonly kind: 'busy';
      readonly what: 'GPUs' | 'cores' | 'memory';
      readonly needs: number;
      readonly free: number;
    };

/** What the task would be given on this node, or why not. Pure. */
export function fitOnNode(
  node: Node,
  needs: Needs,
  free: FreeCapacity = freeCapacity(node),
  closed: ClosedSecret = nothingClosed,
): Allocation | WhyNot {
  if (node.presence.kind !== 'up') return { kind: 'away' };
  const lasting = neverFits(node, needs);
  if (lasting !== null) return lasting;
  const secret = closed(node);
  if (secret !== null) return { kind: 'secret', name: secret };
  if (node.drain !== null) return { kind: 'draining' };
  return takeFrom(node, needs, free);
}

export function isAllocation(fit: Allocation | WhyNot): fit is Allocation {
  return !('kind' in fit);
}

/** What keeps the task off the node even when it is empty; null when nothing does. */
export function neverFits(node: Node, needs: Needs): WhyNot | null {
  for (const [key, value] of Object.entries(needs.labels)) {
    if (node.capacity.labels[key] !== value) return { kind: 'labels', label: `${key}=${value}` };
  }
  const suitable = suitableGpus(node.capacity.gpus, needs).length;
  const gpus = needs.gpus === 'all' ? wholeNodeGpus(node, needs) : needs.gpus;
  if (gpus > suitable) {
    return { kind: 'never', what: 'GPUs', needs: gpus, has: suitable, detail: describeGpuWish(needs) };
  }
  if (needs.cpus > node.capacity.cpus) {
    return { kind: 'never', what: 'cores', needs: needs.cpus, has: node.capacity.cpus, detail: null };
  }
  const memoryMiB = needs.memoryMiB ?? 0;
  if (memoryMiB > node.capacity.memoryMiB) {
    return { kind: 'never', what: 'memory', needs: memoryMiB, has: node.capacity.memoryMiB, detail: null };
  }
  return null;
}

/** All of a node's GPUs, and at least one where a kind of GPU is asked for: every one must be of that kind. */
function wholeNodeGpus(node: Node, needs: Needs): number {
  const least = needs.gpuType === null && needs.gpuMemoryMiB === null ? 0 : 1;
  return Math.max(least, node.capacity.gpus.length);
}

function takeFrom(node: Node, needs: Needs, free: FreeCapacity): Allocation | WhyNot {
  const wholeNode = needs.gpus === 'all';
  const memoryMiB = wholeNode ? node.capacity.memoryMiB : (needs.memoryMiB ?? 0);
  const cpus = wholeNode ? Math.max(needs.cpus, node.capacity.cpus) : needs.cpus;
  const wanted = wholeNode ? node.capacity.gpus.length : Number(needs.gpus);
  const gpus = suitableGpus(free.gpus, needs);
  if (gpus.length < wanted) return { kind: 'busy', what: 'GPUs', needs: wanted, free: gpus.length };
  if (free.cpus < cpus) return { kind: 'busy', what: 'cores', needs: cpus, free: Math.max(0, free.cpus) };
  if (free.memoryMiB < memoryMiB)
    return { kind: 'busy', what: 'memory', needs: memoryMiB, free: Math.max(0, free.memoryMiB) };
  return { node: node.name, devices: gpus.slice(0, wanted).map((gpu) => gpu.uuid), cpus, memoryMiB };
}

/** Names are compared as people write them: `H100` fits `NVIDIA H100 80GB HBM3`. */
function suitableGpus(gpus: readonly Gpu[], needs: Needs): readonly Gpu[] {
  const { gpuType, gpuMemoryMiB } = needs;
  if (gpuType === null && gpuMemoryMiB === null) return gpus;
  const wanted = gpuType?.toLowerCase() ?? '';
  return gpus.filter((gpu) => gpu.name.toLowerCase().includes(wanted) && gpu.memoryMiB >= (gpuMemoryMiB ?? 0));
}

function describeGpuWish(needs: Needs): string | null {
  const parts = [needs.gpuType, needs.gpuMemoryMiB === null ? null : `at least ${writeSize(needs.gpuMemoryMiB)}`];
  const text = parts.filter((part) => part !== null).join(', ');
  return text === '' ? null : text;
}
