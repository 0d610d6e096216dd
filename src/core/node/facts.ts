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
      /** What secrets are sealed to for it; absent where it can open none. */
      readonly publicKey?: string;
      /** Names of the secrets that stay on it. */
      readonly secrets?: readonly string[];
      readonly leased: boolean;
    }
  | { readonly kind: 'NodeLeft'; readonly node: string; readonly instance: string }
  /** Its lease ended without a word. */
  | { readonly kind: 'NodeSuspected'; readonly node: string }
  /** It was silent, and is heard again without having left. */
  | { readonly kind: 'NodeResponded'; readonly node: string }
  /** `by` is the person who said so; null when lease and grace are over. */
  | { readonly kind: 'NodeDeclaredLost'; readonly node: string; readonly by: string | null }
  /** So many nodes are silent together that something between is at fault: none is declared lost. */
  | { readonly kind: 'LossHeld'; readonly silent: number; readonly of: number }
  | { readonly kind: 'LossReleased' }
  | {
      readonly kind: 'NodeDrained';
      readonly node: string;
      readonly reason: string;
      readonly by: string;
      /** Log time; null when what runs may end by itself. */
      readonly deadlineAtMs: number | null;
    }
  | { readonly kind: 'NodeResumed'; readonly node: string; readonly by: string }
  | { readonly kind: 'NodeRemoved'; readonly node: string; readonly by: string }
  /** What a held allocation was waiting for has come: its processes are gone. */
  | { readonly kind: 'AllocationReleased'; readonly node: string; readonly task: string }
  /** Other secrets stay on it than it said before; names alone. */
  | { readonly kind: 'NodeSecretsChanged'; readonly node: string; readonly secrets: readonly string[] };
