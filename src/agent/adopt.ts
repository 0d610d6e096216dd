import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { ProcessIdentity } from '../host/processes.ts';
import {
  type ExitRecord,
  type Label,
  type RecordPlace,
  type RunRecord,
  readClaimRecord,
  readExitRecord,
  readRunRecord,
  readStartRecord,
  type StartRecord,
  takeClaim,
} from './records.ts';

/** Who has the claim of a start, once it is settled. */
export type Owner =
  | { readonly kind: 'shim'; readonly shim: ProcessIdentity; readonly isAlive: boolean }
  /** An agent, now or before: nothing ran under this nonce, nor ever will. */
  | { readonly kind: 'agent' }
  /** A shim that died before it could say who it was. */
  | { readonly kind: 'unknown' };

/** What an agent may know about a start, its own or that of an agent before it. */
export interface Evidence {
  readonly start: StartRecord | null;
  /** Null where it does not matter: nothing was started, it ended, or the host rebooted. */
  readonly owner: Owner | null;
  readonly run: RunRecord | null;
  readonly exit: ExitRecord | null;
  /** The kernel's id of this boot. */
  readonly bootId: string;
}

export type Adoption =
  /** Nothing was journaled: this is a first start. */
  | { readonly kind: 'never-decided' }
  /** It ended, perhaps while no agent was looking. */
  | { readonly kind: 'ended'; readonly exit: ExitRecord }
  /** The shim is alive and will write the exit record; `run` is null until it has started the command. */
  | { readonly kind: 'running'; readonly shim: ProcessIdentity; readonly run: RunRecord | null }
  /** Nothing ran and nothing ever will: start again under a new nonce, as the same attempt. */
  | { readonly kind: 'start-again' }
  /** The host rebooted since; nothing of that time is alive, and nothing is signalled. */
  | { readonly kind: 'rebooted' }
  /** A fault of the node. Whatever is left of the tree must be killed before anything else happens. */
  | { readonly kind: 'lost'; readonly message: string };

/** The decision, as a pure function. The order matters: what ended has ended, whatever came after. */
export function decideAdoption({ start, owner, run, exit, bootId }: Evidence): Adoption {
  if (start === null) return { kind: 'never-decided' };
  if (exit !== null) return { kind: 'ended', exit };
  if (start.bootId !== bootId) return { kind: 'rebooted' };
  if (owner?.kind === 'agent') return { kind: 'start-again' };
  if (owner?.kind === 'shim' && owner.isAlive) return { kind: 'running', shim: owner.shim, run };
  if (run === null) return { kind: 'lost', message: 'the command may have started: its shim died before it said so' };
  return { kind: 'lost', message: 'the exit of the command is unknown: its shim died first' };
}

/** Reads what an agent and its shim left of one start, and takes the claim if nobody has it. */
export async function adoptProcess(options: { host: Host; directory: string; label: Label }): Promise<Adoption> {
  const { host, directory, label } = options;
  const place = { files: host.files, directory, label };
  const bootId = host.clock.bootId();
  const start = await readStartRecord(place);
  const early = await readExitRecord(place);
  if (start === null || early !== null || start.bootId !== bootId) {
    return decideAdoption({ start, owner: null, run: null, exit: early, bootId });
  }
  const owner = await settleOwner(host, place, start.nonce);
  // Read after the look at the shim: one that ended, or started its command, before that look has left its record.
  const run = await readRunRecord(place);
  return decideAdoption({ start, owner, run, exit: await readExitRecord(place), bootId });
}

/** A claim is created and filled in two calls of the system; a live shim needs far less between them. */
const tornClaimMs = 200;

/**
 * Says who owns a start, and takes the claim if nobody has: whoever wants to end a start must ask this first, or a
 * shim that is only just coming up would begin after the last look.
 */
export async function settleOwner(host: Host, place: RecordPlace, nonce: string): Promise<Owner> {
  let claim = await readClaimRecord(place, nonce);
  if (claim === null) {
    if (await takeClaim(place, nonce)) return { kind: 'agent' };
    // A shim was faster by a moment.
    claim = await readClaimRecord(place, nonce);
  }
  if (claim === null || claim === 'torn') {
    await sleep(host.timers, tornClaimMs);
    claim = await readClaimRecord(place, nonce);
  }
  if (claim === null || claim === 'torn') return { kind: 'unknown' };
  if (claim.kind === 'agent') return claim;
  return { kind: 'shim', shim: claim.shim, isAlive: await host.processes.isAlive(claim.shim) };
}
