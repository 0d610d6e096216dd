import { TreeRefusal } from '../blobs/tree-refusal.ts';
import { type RefusalCode, refuse } from '../core/refusal.ts';
import { HostError } from '../host/files.ts';
import { RefusalError } from './refusal-error.ts';

/** Takes a tree into the home; a full disk there is refused, since nothing was submitted. */
export async function withPushRefusals<Result>(home: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await withTreeRefusals(work);
  } catch (error) {
    if (!(error instanceof HostError && (error.code === 'ENOSPC' || error.code === 'EDQUOT'))) throw error;
    const message = `the disk of ${home} has no room for the workspace; nothing was submitted`;
    throw new RefusalError(
      refuse('STORE_FULL', message, { hint: 'yard prune makes room, --exclude leaves things out' }),
    );
  }
}

/** Does something with a tree; what cannot travel is refused as everything else is. */
async function withTreeRefusals<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TreeRefusal)) throw error;
    const { code, message, hint, path } = error;
    throw new RefusalError(refuse(code, message, { hint, path }));
  }
}

/** Why the system lets nothing be written, in words. */
const whyNotWritten: Readonly<Record<string, { readonly code: RefusalCode; readonly why: string }>> = {
  EEXIST: { code: 'LANDING_CONFLICT', why: 'a file is in its place' },
  ENOTDIR: { code: 'LANDING_CONFLICT', why: 'a file is in its place' },
  EACCES: { code: 'LANDING_FAILED', why: 'you may not write there' },
  EPERM: { code: 'LANDING_FAILED', why: 'you may not write there' },
  EROFS: { code: 'LANDING_FAILED', why: 'the file system is read-only' },
  ENOSPC: { code: 'LANDING_FAILED', why: 'the disk is full' },
  EDQUOT: { code: 'LANDING_FAILED', why: 'your quota is used up' },
};

/** Brings something home; a place that does not take it is refused, since the outputs are safe and land elsewhere as well. */
export async function withLandingRefusals<Result>(directory: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await withTreeRefusals(work);
  } catch (error) {
    const known = error instanceof HostError ? whyNotWritten[error.code] : undefined;
    if (known === undefined) throw error;
    const message = `outputs cannot land in ${directory}: ${known.why}`;
    throw new RefusalError(refuse(known.code, message, { hint: 'land elsewhere with --to' }));
  }
}
