import type { ReplicaView, ServiceView } from '../../core/service/view.ts';
import type { StatusLine } from '../output/output.ts';
import { hintInReason } from './replica-line.ts';

/** What became of an apply; null while it goes on. */
export interface Verdict {
  readonly ok: boolean;
  readonly line: StatusLine;
}

/**
 * Whether what was applied has come to its end. `revision` is the one that was applied; another one that is rolled out
 * meanwhile ends it too.
 */
export function verdictOn(view: ServiceView, revision: number): Verdict | null {
  const { rollout, name, state } = view;
  if (view.revision !== revision && rollout?.state !== 'rolled-back') return overtaken(view, revision);
  if (state === 'STOPPED')
    return { ok: false, line: line(view, 'bad', 'STOPPED', 'someone stopped it', [`yard apply its file starts it`]) };
  if (state === 'COMPLETED') return { ok: true, line: line(view, 'good', 'COMPLETED', 'every replica ended well', []) };
  switch (rollout?.state) {
    case 'progressing':
      return null;
    case 'paused':
      return {
        ok: false,
        line: line(view, 'bad', 'PAUSED', rollout.reason ?? 'the rollout is paused', [
          `yard services rollout resume ${name}`,
        ]),
      };
    case 'failed':
      return failed(view, `rollout to revision ${rollout.to} failed: ${rollout.reason ?? 'no reason was given'}`);
    case 'rolled-back':
      // Applying what ran before a rollout undoes that rollout: then this is what was asked for.
      if (revision === rollout.from) return isAsWanted(view) ? { ok: true, line: doneLine(view) } : null;
      return failed(view, `rolled back to revision ${rollout.from}: ${rollout.reason ?? 'no reason was given'}`);
    case 'done':
    case undefined:
      return isAsWanted(view) ? { ok: true, line: doneLine(view) } : null;
  }
}

/** As many ready replicas as are wanted, and none too many. */
function isAsWanted({ ready, completed, desired, replicas }: ServiceView): boolean {
  return ready + completed >= desired && replicas.every((replica) => !replica.stopping);
}

function overtaken(view: ServiceView, revision: number): Verdict {
  const message = `revision ${revision} was overtaken by revision ${view.revision}`;
  return { ok: false, line: line(view, 'bad', 'OVERTAKEN', message, [`yard services ${view.name}`]) };
}

function failed(view: ServiceView, message: string): Verdict {
  return { ok: false, line: line(view, 'bad', 'FAILED', message, whatNext(view)) };
}

/** Every failure says what to do next, and what became of the service meanwhile. */
function whatNext(view: ServiceView): readonly string[] {
  const { name, rollout, desired } = view;
  const fresh = view.replicas.find((replica) => replica.revision === rollout?.to && !replica.ready);
  const serving = view.replicas.filter((replica) => replica.ready && replica.revision === rollout?.from).length;
  const next: string[] = [];
  if (rollout !== null && rollout.from !== rollout.to && serving > 0) {
    next.push(`revision ${rollout.from} serves on: ${serving} of ${desired} ready`);
  }
  const todo = hintFor(rollout?.reason ?? '', fresh);
  next.push(todo ?? `yard logs ${fresh?.id ?? name}`);
  if (rollout?.state === 'failed' && rollout.from !== rollout.to) next.push(`yard services rollout undo ${name}`);
  return next;
}

/** What the reason itself suggests. */
function hintFor(reason: string, replica: ReplicaView | undefined): string | null {
  const hint = hintInReason(reason, replica ?? null);
  if (hint !== null) return hint;
  if (/no capacity/.test(reason)) {
    return replica === undefined
      ? 'yard nodes shows what there is'
      : `yard explain ${replica.id}; yard nodes shows what there is`;
  }
  if (/No such file|: not found$|code 127/.test(reason))
    return 'the node has no such program; the workspace or setup has to bring it';
  if (/Permission denied|code 126/.test(reason)) return 'make it executable: chmod +x';
  return null;
}

/** `llm  RUNNING  revision 5, 2 of 2 ready`, and where its replicas answer. */
export function doneLine(view: ServiceView): StatusLine {
  const { ready, desired, revision, endpoints, state } = view;
  const width = Math.max(0, ...endpoints.map(({ replica }) => String(replica).length));
  const below = endpoints.map(({ replica, endpoint }) => `replica ${String(replica).padEnd(width)}  ${endpoint}`);
  return line(view, 'good', state, `revision ${revision}, ${ready} of ${desired} ready`, below);
}

function line(
  view: ServiceView,
  tone: 'good' | 'bad',
  label: string,
  detail: string,
  below: readonly string[],
): StatusLine {
  return { id: view.name, label, detail, tone, below, document: { kind: 'ended', ok: tone === 'good', service: view } };
}
