import type { Capacity, Gpu } from './node.ts';

/** More than any machine has: whatever says so is wrong, or lies. */
export const mostCapacity = { cpus: 4096, memoryMiB: 1024 ** 3, gpus: 64 };

/**
 * What a node says it offers, cut to what a machine can have (R4.30). What is no number is nothing, and a GPU named twice
 * is one: a device belongs to one attempt.
 */
export function clampCapacity({ cpus, memoryMiB, gpus, labels }: Capacity): Capacity {
  return {
    cpus: between(cpus, mostCapacity.cpus),
    memoryMiB: Math.floor(between(memoryMiB, mostCapacity.memoryMiB)),
    gpus: distinct(gpus).slice(0, mostCapacity.gpus),
    labels,
  };
}

function between(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.max(0, Math.min(most, value));
}

function distinct(gpus: readonly Gpu[]): readonly Gpu[] {
  const known = new Map<string, Gpu>();
  for (const gpu of gpus) {
    if (!known.has(gpu.uuid))
      known.set(gpu.uuid, { ...gpu, memoryMiB: between(gpu.memoryMiB, mostCapacity.memoryMiB) });
  }
  return [...known.values()];
}
