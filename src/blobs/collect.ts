import { HostError } from '../host/files.ts';
import type { BlobStore } from './blob-store.ts';
import { byPath, type PushedPaths, readOutput, type Verdict } from './collect-one.ts';
import { joinOutputs } from './join-outputs.ts';
import type { Manifest } from './manifest.ts';
import type { Materialised } from './materialise.ts';
import type { StorageHost } from './storage-host.ts';
import { checkOutputPath } from './tree-path.ts';
import { TreeRefusal } from './tree-refusal.ts';

export interface CollectOptions {
  readonly workdir: string;
  /** Files or folders, relative to the work directory. */
  readonly declared: readonly string[];
  /** What was pushed; null when the job had no workspace. */
  readonly materialised: Materialised | null;
  readonly store: BlobStore;
  readonly host: StorageHost;
  /** How long collecting may take from now; what is not collected by then is refused with that reason. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal;
}

export interface Output {
  /** As declared. */
  readonly path: string;
  readonly state: 'collected' | 'missing' | 'refused';
  readonly sizeBytes?: number;
  /** Why it is missing or refused. */
  readonly why?: string;
}

export interface Collected {
  readonly outputs: readonly Output[];
  /** The collected outputs and the folders that lead to them. */
  readonly manifest: Manifest;
}

/** Stops collecting: thrown between two reads. */
export class CollectionStopped extends Error {}

/**
 * Brings declared outputs into the store. Every declared path gets a verdict of its own and none spoils another; only
 * a failing store or disk throws. Nothing outside the work directory is read, through whatever link.
 */
export async function collectOutputs(options: CollectOptions): Promise<Collected> {
  const { clock, files } = options.host;
  const endMs = clock.bootMs() + options.deadlineMs;
  const checkpoint = (): void => {
    if (options.signal?.aborted) throw new CollectionStopped('collecting was stopped before it was done');
    if (clock.bootMs() > endMs) throw new CollectionStopped(`not collected within ${options.deadlineMs / 1000} s`);
  };
  const workdir = await files.realPath(options.workdir);
  const pushed = byPath(options.materialised);
  const verdicts: Verdict[] = [];
  for (const declared of options.declared) {
    const gone: Verdict = { kind: 'missing', why: 'the work directory is gone' };
    verdicts.push(workdir === null ? gone : await judge(options, { workdir, declared, pushed, checkpoint }));
  }
  const { manifest, settled } = joinOutputs(verdicts);
  const outputs = options.declared.map((path, i) => toOutput(path, settled[i]));
  return { outputs, manifest };
}

function toOutput(path: string, verdict: Verdict | undefined): Output {
  if (verdict === undefined) return { path, state: 'missing' };
  if (verdict.kind === 'collected') return { path, state: 'collected', sizeBytes: verdict.sizeBytes };
  return { path, state: verdict.kind, why: verdict.why };
}

async function judge(
  options: CollectOptions,
  { declared, ...rest }: { workdir: string; declared: string; pushed: PushedPaths; checkpoint: () => void },
): Promise<Verdict> {
  const checked = checkOutputPath(declared);
  if (checked.kind === 'refused') return { kind: 'refused', why: checked.message };
  try {
    rest.checkpoint();
    return await readOutput({ store: options.store, host: options.host, ...rest, path: checked.path });
  } catch (error) {
    if (error instanceof CollectionStopped || error instanceof TreeRefusal)
      return { kind: 'refused', why: error.message };
    // What the job made unreadable is its own verdict; a full or failing disk is everybody's.
    if (error instanceof HostError && (error.code === 'EACCES' || error.code === 'ENAMETOOLONG')) {
      return { kind: 'refused', why: error.message };
    }
    throw error;
  }
}
