import type { StepWork } from '../task-context.ts';

/** Tells where this rank can be met, before any rank runs: rank 0's address goes to all. */
export const prepare: StepWork = ({ advertise, port }) => {
  if (port === null)
    return Promise.resolve({ kind: 'NodeFault', message: 'no port could be taken for the rank', held: false });
  return Promise.resolve({ kind: 'TaskPrepared', address: advertise, port });
};
