import type { Files } from '../host/files.ts';
import type { ProcessIdentity } from '../host/processes.ts';

/** Which of an attempt's two commands; it begins the names of the records and logs. */
export type Label = 'setup' | 'run';

/** The agent's journal, on the disk before anything is spawned. */
export interface StartRecord {
  readonly nonce: string;
  readonly mark: string;
  readonly bootId: string;
}

/** Who owns a start: the shim, or an agent that took the claim so that no shim ever can. */
export type ClaimRecord = { readonly kind: 'shim'; readonly shim: ProcessIdentity } | { readonly kind: 'agent' };

/** The command's own process, written by itself just before it became the command. */
export interface RunRecord {
  readonly process: ProcessIdentity;
  /** Wall clock, for people. */
  readonly startedAtMs: number;
}

export type ExitRecord =
  /** `alone`: nothing of the command's tree was left when it ended; false where the shim cannot know. */
  | { readonly kind: 'exited'; readonly exitCode: number; readonly atMs: number; readonly alone: boolean }
  | { readonly kind: 'killed'; readonly signal: number; readonly atMs: number; readonly alone: boolean }
  /** The command was never started; `message` says why. */
  | { readonly kind: 'fault'; readonly message: string; readonly atMs: number };

/** Everything that is recorded of one start. Torn and half-written records count as absent. */
export interface Records {
  readonly start: StartRecord | null;
  readonly claim: ClaimRecord | 'torn' | null;
  readonly run: RunRecord | null;
  readonly exit: ExitRecord | null;
}

export interface RecordPlace {
  readonly files: Files;
  /** The attempt's directory. */
  readonly directory: string;
  readonly label: Label;
}

/** Reads all records. The exit is read first: whoever sees none and then a dead shim knows that none will come. */
export async function readRecords(place: RecordPlace): Promise<Records> {
  const exit = await readExitRecord(place);
  const start = await readStartRecord(place);
  const claim = start === null ? null : await readClaimRecord(place, start.nonce);
  return { start, claim, run: await readRunRecord(place), exit };
}

/** Writes what the start was decided with. The node's start journal is what survives a power loss; this survives the agent. */
export async function writeStartRecord(place: RecordPlace, record: StartRecord): Promise<void> {
  // All records of an attempt are of one length.
  await place.files.write(startPath(place), encode(record), { mode: 0o600, inPlace: true });
}

/** Takes the claim for the agent. True means that nothing ran under this nonce, nor ever will. */
export function takeClaim(place: RecordPlace, nonce: string): Promise<boolean> {
  return place.files.createExclusive(claimPath(place, nonce), encode({ agent: true }));
}

/**
 * Clears away what a start left whose end has been dealt with, so that the next start of this label finds nothing old.
 * The logs stay: all runs write to the same.
 */
export async function clearRecords(place: RecordPlace): Promise<void> {
  for (const ending of ['exit.json', 'run.json']) await place.files.remove(recordPath(place, ending));
}

/** Removes what is left of such a start and in nobody's way. */
export async function tidyStart(place: RecordPlace, nonce: string): Promise<void> {
  const old = [recordPath(place, 'begun'), recordPath(place, `launch.${nonce}`), claimPath(place, nonce)];
  for (const path of old) await place.files.remove(path);
}

export async function readExitRecord(place: RecordPlace): Promise<ExitRecord | null> {
  const path = recordPath(place, 'exit.json');
  const fields = await readFields(place.files, path);
  if (fields === null) return null;
  const atMs = await modifiedAtMs(place.files, path);
  const alone = fields.alone === true;
  if (typeof fields.code === 'number') return { kind: 'exited', exitCode: fields.code, atMs, alone };
  if (typeof fields.signal === 'number') return { kind: 'killed', signal: fields.signal, atMs, alone };
  if (typeof fields.fault === 'string') {
    return { kind: 'fault', message: await describeFault(place, fields.fault), atMs };
  }
  throw new Error(`${path}: expected a record with code, signal or fault, found ${JSON.stringify(fields)}`);
}

export async function readStartRecord(place: RecordPlace): Promise<StartRecord | null> {
  const fields = await readFields(place.files, startPath(place));
  const [nonce, mark, bootId] = [fields?.nonce, fields?.mark, fields?.bootId];
  if (typeof nonce !== 'string' || typeof mark !== 'string' || typeof bootId !== 'string') return null;
  return { nonce, mark, bootId };
}

/** `torn` when the file is there without its end. */
export async function readClaimRecord(place: RecordPlace, nonce: string): Promise<Records['claim']> {
  const path = claimPath(place, nonce);
  const fields = await readFields(place.files, path);
  if (fields === null) return (await place.files.stat(path)) === null ? null : 'torn';
  if (fields.agent === true) return { kind: 'agent' };
  const shim = toIdentity(fields);
  return shim === null ? 'torn' : { kind: 'shim', shim };
}

export async function readRunRecord(place: RecordPlace): Promise<RunRecord | null> {
  const path = recordPath(place, 'run.json');
  const fields = await readFields(place.files, path);
  const process = fields === null ? null : toIdentity(fields);
  return process === null ? null : { process, startedAtMs: await modifiedAtMs(place.files, path) };
}

/** The shim has no cheap clock of its own; the file system stamped its record when it wrote it. */
async function modifiedAtMs(files: Files, path: string): Promise<number> {
  return Math.round((await files.stat(path))?.mtimeMs ?? 0);
}

const faultSentences: Readonly<Record<string, string>> = {
  workdir: 'the working directory does not exist or cannot be entered',
  start: 'the command could not be started on this node',
};

async function describeFault(place: RecordPlace, fault: string): Promise<string> {
  const detail = await place.files.readAt(recordPath(place, 'shim'), 0, 500);
  const words = detail === null ? '' : new TextDecoder().decode(detail).trim();
  const sentence = faultSentences[fault] ?? `the shim reported the fault "${fault}"`;
  return words === '' ? sentence : `${sentence}: ${words}`;
}

function recordPath(place: RecordPlace, ending: string): string {
  return `${place.directory}/${place.label}.${ending}`;
}

function startPath(place: RecordPlace): string {
  return recordPath(place, 'start.json');
}

function claimPath(place: RecordPlace, nonce: string): string {
  return recordPath(place, `claim.${nonce}`);
}

function encode(fields: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify({ ...fields, end: true })}\n`);
}

/** Null when the file is absent, or when its end mark is (not) yet there. */
async function readFields(files: Files, path: string): Promise<Record<string, unknown> | null> {
  const bytes = await files.read(path);
  const text = bytes === null ? '' : new TextDecoder().decode(bytes);
  return text.endsWith('"end":true}\n') ? parseObject(text) : null;
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    // Blocks that a power loss left empty before an intact end: torn as well.
    return null;
  }
}

/** macOS gives start times as text; there, the seconds are the ticks. */
function toIdentity(fields: Record<string, unknown>): ProcessIdentity | null {
  const [pid, start, bootId] = [fields.pid, fields.startTicks, fields.bootId];
  const startTicks = typeof start === 'string' ? Date.parse(`${start} UTC`) / 1000 : start;
  if (typeof pid !== 'number' || typeof startTicks !== 'number' || typeof bootId !== 'string') return null;
  return { pid, startTicks, bootId };
}
