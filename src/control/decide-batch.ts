import { type Principal, system } from '../core/access/principal.ts';
import type { Answer, Command } from '../core/command.ts';
import { step } from '../core/engine.ts';
import type { Fact } from '../core/fact.ts';
import { type LeaseTimes, leaseName } from '../core/node/lease-times.ts';
import { isRefusal, type Refusal, refuse } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import type { AppendView, Draft, StoredAnswer } from '../log/fact-log.ts';
import { archiveRecord } from './archive.ts';
import { leaseEnds, leasesAfter } from './lease-grants.ts';
import type { ReplicaIds } from './replica-ids.ts';
import { watchServicePins } from './service-pins.ts';

export interface ExecuteOptions {
  /** Who sends the command; the control plane itself unless it is said. What they may do is looked at under the lock. */
  readonly actor?: Principal;
  /** The same key with the same command has one effect and one answer. */
  readonly idempotencyKey?: string;
  /** Blobs the command needs: refused when one is missing, pinned for the job when it is a submission. */
  readonly blobs?: readonly string[];
}

/** A command that waits for its commit. */
export interface Waiting {
  readonly command: Command;
  readonly options: ExecuteOptions;
  /** Digest of the command, to tell a repeat from another request under the same key; empty without a key. */
  readonly bodyHash: string;
}

/** What came of a batch: a draft for the log (null: nothing to write) and one answer a command, in their order. */
export interface Decided {
  readonly draft: Draft<Fact> | null;
  readonly answers: readonly (Answer | Refusal)[];
  readonly unfinished: boolean;
}

/** What must be looked up under the lock for these commands. */
export function askFor(
  waiting: readonly Waiting[],
  replicaIds: readonly string[],
): { keys: string[]; ids: string[]; blobs: string[]; leases: string[] } {
  const keys: string[] = [];
  const ids: string[] = [...replicaIds];
  const blobs: string[] = [];
  const leases: string[] = [];
  for (const { command, options } of waiting) {
    if (options.idempotencyKey !== undefined) keys.push(options.idempotencyKey);
    if (command.kind === 'SubmitJob') ids.push(...command.ids);
    if (command.kind === 'CheckLeases') leases.push(...command.nodes.map(leaseName));
    blobs.push(...(options.blobs ?? []));
  }
  return { keys, ids, blobs, leases };
}

/** Decides the commands of one commit, in order, under the lock; the state has evolved by the facts of the draft. */
export function decideBatch(
  state: State,
  waiting: readonly Waiting[],
  view: AppendView<Fact>,
  { replicaIds, leaseTimes }: { replicaIds: ReplicaIds; leaseTimes: LeaseTimes },
): Decided {
  const { answered, fresh } = splitByKey(waiting, view);
  const context = {
    atMs: view.atMs,
    nowMs: view.nowMs,
    archivedIds: view.archivedIds,
    missingBlobs: view.missingBlobs,
    leases: leaseEnds(state, view),
    leaseTimes,
    afterOutage: view.afterOutage,
    drawId: (name: string) => replicaIds.drawId(name, state, view.archivedIds),
  };
  const commands = fresh.map(({ command }) => command);
  const servicePins = watchServicePins(state, commands);
  const result = step(
    state,
    commands,
    context,
    fresh.map(({ options }) => options.actor ?? system),
  );
  for (const [position, one] of fresh.entries()) answered.set(one, result.answers[position] as Answer | Refusal);
  const keep: StoredAnswer[] = [];
  const pins: { holder: string; blobs: readonly string[] }[] = [];
  for (const one of fresh) {
    const answer = answered.get(one);
    if (answer === undefined || isRefusal(answer)) continue;
    const { idempotencyKey, blobs } = one.options;
    if (idempotencyKey !== undefined) keep.push({ key: idempotencyKey, bodyHash: one.bodyHash, answer });
    if (answer.kind === 'submitted' && blobs !== undefined) pins.push({ holder: answer.job, blobs });
  }
  const answers = waiting.map((one) => resolveRepeat(one, answered, waiting));
  const leases = leasesAfter(state, { facts: result.facts, afterOutage: view.afterOutage, leaseTimes });
  if (result.facts.length + keep.length + leases.length === 0)
    return { draft: null, answers, unfinished: result.unfinished };
  const outputs = outputPins(result.facts);
  const services = servicePins(result.facts);
  const archive = result.archived.map((job) => archiveRecord(job));
  return {
    draft: {
      facts: result.facts,
      answers: keep,
      archive,
      pins: [...pins, ...outputs, ...services.pins],
      unpins: services.unpins,
      leases,
    },
    answers,
    unfinished: result.unfinished,
  };
}

/** Commands whose key was answered before, and those to decide; of two with one key in one batch the first decides. */
function splitByKey(
  waiting: readonly Waiting[],
  view: AppendView<Fact>,
): { answered: Map<Waiting, Answer | Refusal>; fresh: Waiting[] } {
  const answered = new Map<Waiting, Answer | Refusal>();
  const fresh: Waiting[] = [];
  const first = new Map<string, Waiting>();
  for (const one of waiting) {
    const key = one.options.idempotencyKey;
    if (key === undefined) {
      fresh.push(one);
      continue;
    }
    const stored = view.answers.get(key);
    const earlier = first.get(key);
    const bodyHash = stored?.bodyHash ?? earlier?.bodyHash;
    if (bodyHash === undefined) {
      first.set(key, one);
      fresh.push(one);
    } else if (bodyHash !== one.bodyHash) {
      answered.set(
        one,
        refuse('IDEMPOTENCY_MISMATCH', 'the idempotency key was used for another request', {
          hint: 'draw a new key',
        }),
      );
    } else if (stored !== undefined) {
      answered.set(one, stored.answer as Answer);
    }
  }
  return { answered, fresh };
}

function resolveRepeat(
  one: Waiting,
  answered: ReadonlyMap<Waiting, Answer | Refusal>,
  waiting: readonly Waiting[],
): Answer | Refusal {
  const own = answered.get(one);
  if (own !== undefined) return own;
  const first = waiting.find(
    (other) => other.options.idempotencyKey === one.options.idempotencyKey && answered.has(other),
  );
  const answer = first === undefined ? undefined : answered.get(first);
  if (answer === undefined) throw new Error('a command was neither decided nor answered');
  return answer;
}

/** Collected outputs stay as long as their job is known. */
function outputPins(facts: readonly Fact[]): readonly { holder: string; blobs: readonly string[] }[] {
  return facts.flatMap((fact) =>
    fact.kind === 'OutputsCollected' && fact.manifest !== null ? [{ holder: fact.job, blobs: [fact.manifest] }] : [],
  );
}
