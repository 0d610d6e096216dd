import { isRefusal } from '../core/refusal.ts';
import { type UsageQuery, type UsageView, viewUsage } from '../core/usage/view.ts';
import type { Embedded } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';

/** What was used of GPUs and cores in the projects that they may see, until now. */
export async function readUsage({ plane, actor }: Embedded, query: UsageQuery): Promise<UsageView> {
  await plane.catchUp();
  const usage = viewUsage(plane.state, actor, query, plane.nowMs());
  if (isRefusal(usage)) throw new RefusalError(usage);
  return usage;
}
