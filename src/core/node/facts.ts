import type { Capacity } from './node.ts';

export type NodeFact =
  | {
      readonly kind: 'NodeJoined';
      readonly node: string;
      readonly instance: string;
      readonly bootId: string;
      readonly capacity: Capacity;
      readonly advertise: string;
      readonly platform: string;
      readonly version: string;
    }
  | { readonly kind: 'NodeLeft'; readonly node: string; readonly instance: string }
  | { readonly kind: 'NodeDrained'; readonly node: string; readonly reason: string; readonly by: string }
  | { readonly kind: 'NodeResumed'; readonly node: string; readonly by: string }
  | { readonly kind: 'NodeRemoved'; readonly node: string; readonly by: string }
  /** What a held allocation was waiting for has come: its processes are gone. */
  | { readonly kind: 'AllocationReleased'; readonly node: string; readonly task: string };
