import { TreeRefusal } from '../blobs/tree-refusal.ts';
import { refuse } from '../core/refusal.ts';
import { RefusalError } from './refusal-error.ts';

/** Does something with a tree; what cannot travel is refused as everything else is. */
export async function withTreeRefusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TreeRefusal)) throw error;
    const { code, message, hint, path } = error;
    throw new RefusalError(refuse(code, message, { hint, path }));
  }
}
