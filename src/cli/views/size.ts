import { describeBytes } from '../../core/units.ts';

/** `23.5 GiB`. */
export function describeMiB(sizeMiB: number): string {
  return describeBytes(sizeMiB * 1024 * 1024);
}

/** A GPU that shares the memory of its machine does not tell it. */
export function describeGpuMemory(sizeMiB: number): string {
  return sizeMiB === 0 ? '(memory unknown)' : describeMiB(sizeMiB);
}
