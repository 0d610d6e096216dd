import { describeBytes } from '../../core/units.ts';

/** `23.5 GiB`. */
export function describeMiB(sizeMiB: number): string {
  return describeBytes(sizeMiB * 1024 * 1024);
}
