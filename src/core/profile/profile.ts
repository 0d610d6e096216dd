import type { PartialSettings } from './settings.ts';

/** A named, versioned profile. */
export interface Profile {
  readonly name: string;
  /** From 1; every change makes the next. */
  readonly revision: number;
  readonly values: PartialSettings;
  readonly source: unknown;
}

export type ProfileFact = {
  readonly kind: 'ProfileApplied';
  readonly name: string;
  readonly revision: number;
  readonly values: PartialSettings;
  readonly source: unknown;
  readonly by: string;
};
