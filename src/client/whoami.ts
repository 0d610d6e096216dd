import { viewWho, type WhoView } from '../core/access/view.ts';
import type { Embedded } from './embedded.ts';

/** Who asks, and what they may do where. */
export async function whoAmI({ plane, actor }: Embedded): Promise<WhoView> {
  await plane.catchUp();
  return viewWho(plane.state, actor);
}
