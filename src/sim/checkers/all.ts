import type { Checker } from './checker.ts';
import { accessCheckers } from './of-access.ts';
import { leaseCheckers } from './of-leases.ts';
import { pushedLogCheckers } from './of-pushed-logs.ts';
import { restartCheckers } from './of-restarts.ts';
import { secretCheckers } from './of-secrets.ts';
import { serviceCheckers } from './of-services.ts';
import { logCheckers } from './of-the-log.ts';
import { restCheckers } from './of-the-rest.ts';
import { stateCheckers } from './of-the-state.ts';
import { truthCheckers } from './of-the-truth.ts';
import { usageCheckers } from './of-usage.ts';

/** Every promise that a seed is held to. */
export const checkers: readonly Checker[] = [
  ...logCheckers,
  ...stateCheckers,
  ...truthCheckers,
  ...restartCheckers,
  ...serviceCheckers,
  ...leaseCheckers,
  ...accessCheckers,
  ...pushedLogCheckers,
  ...secretCheckers,
  ...usageCheckers,
  ...restCheckers,
];
