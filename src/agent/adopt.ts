import { sleep } from '../host/clock.ts';
import type { Host } from '../host/host.ts';
import type { ProcessIdentity } from '../host/processes.ts';
import {
  type ExitRecord,
  type Label,
  type RecordPlace,
  type Records,
  type RunRecord,
  readClaimRecord,
  readExitRecord,
  readRecords,
  readRunRecord,
  takeClaim,
} from './records.ts';

/** What an agent that has just started may know about a start of an earlier agent. */
export interface Evidence {
  readonly records: Records;
  /** The kernel's id of this boot. */
  readonly bootId: string;
  /** True when the claim was taken by an agent, now or before: no shim can start any more. */
  readonly claimIsOurs: boolean;
  readonly shimIsAlive: boolean;
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
export function decideAdoption(evidence: Evidence): Adoption {
  const { records, bootId } = evidence;
  const { start, claim, run, exit } = records;
  if (start === null) return { kind: 'never-decided' };
  if (exit !== null) return { kind: 'ended', exit };
  if (start.bootId !== bootId) return { kind: 'rebooted' };
  if (evidence.claimIsOurs) return { kind: 'start-again' };
  if (claim !== null && claim !== 'torn' && claim.kind === 'shim' && evidence.shimIsAlive) {
    return { kind: 'running', shim: claim.shim, run };
  }
  if (run === null) return { kind: 'lost', message: 'the command may have started: its shim died before it said so' };
  return { kind: 'lost', message: 'the exit of the command is unknown: its shim died first' };
}

/** A claim is created and filled in two calls of the system; a live shim needs far less between them. */
const tornClaimMs = 200;

/** Reads what an earlier agent and its shim left of one start, and settles the claim if nobody has. */
export async function adoptProcess(options: { host: Host; directory: string; label: Label }): Promise<Adoption> {
  const { host, directory, label } = options;
  const place = { files: host.files, directory, label };
  const bootId = host.clock.bootId();
  const records = await readRecords(place);
  const { start } = records;
  if (start === null || records.exit !== null || start.bootId !== bootId) {
    return decideAdoption({ records, bootId, claimIsOurs: false, shimIsAlive: false });
  }
  if (records.claim === null) {
    if (await takeClaim(place, start.nonce)) {
      return decideAdoption({ records, bootId, claimIsOurs: true, shimIsAlive: false });
    }
    // The shim was faster by a moment; its claim can be read now.
    return adoptProcess(options);
  }
  const claim = records.claim === 'torn' ? await readClaimAgain(host, place, start.nonce) : records.claim;
  const claimIsOurs = claim !== 'torn' && claim?.kind === 'agent';
  const shimIsAlive = claim !== 'torn' && claim?.kind === 'shim' && (await host.processes.isAlive(claim.shim));
  // A shim that ended, or started its command, between the two looks has left its record.
  const [run, exit] = [await readRunRecord(place), await readExitRecord(place)];
  return decideAdoption({ records: { start, claim, run, exit }, bootId, claimIsOurs, shimIsAlive });
}

async function readClaimAgain(host: Host, place: RecordPlace, nonce: string): Promise<Records['claim']> {
  await sleep(host.timers, tornClaimMs);
  return readClaimRecord(place, nonce);
}
