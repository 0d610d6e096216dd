import type { ServiceView } from '../../core/service/view.ts';
import type { Output, StatusLine } from '../output/output.ts';
import { lastFailureOf, replicaLine, restartsIn } from './replica-line.ts';
import { serviceFrame, troubleOf } from './service-frame.ts';

/** Tells what becomes of a service: on a terminal one picture that changes in place, in a pipe a line for each change. */
export interface ServiceNarrator {
  see(view: ServiceView): void;
  end(): void;
}

export function createServiceNarrator({ output, nowMs }: { output: Output; nowMs: () => number }): ServiceNarrator {
  const said = new Map<string, string>();
  let progress = '';
  let trouble: string | null = null;
  return {
    see(view) {
      output.frame(serviceFrame(view, nowMs()));
      if (output.kind === 'terminal') return;
      for (const replica of view.replicas) {
        const { word, detail, tone } = replicaLine(replica, nowMs());
        // Counts of a probe and the time it is up change all the time; they are no news.
        const news = `${word} ${restartsIn(replica)} ${lastFailureOf(replica) ?? ''}`;
        if (said.get(replica.id) === news) continue;
        said.set(replica.id, news);
        output.status({
          id: replica.id,
          label: `rev ${replica.revision}  ${word}`,
          detail: word === 'ready' ? '' : detail,
          ...(tone === 'waiting' ? { tone } : {}),
          document: { kind: 'replica', service: view.name, state: word, detail, replica },
        });
      }
      const wrong = troubleOf(view);
      if (wrong !== null && wrong !== trouble) output.status(troubleLine(view.name, wrong));
      trouble = wrong;
      const next = progressOf(view);
      if (next.detail !== progress) output.status(next);
      progress = next.detail;
    },
    end() {
      output.frame(null);
    },
  };
}

function troubleLine(name: string, reason: string): StatusLine {
  const document = { kind: 'trouble', service: name, reason };
  return { id: name, label: 'waiting', detail: reason, tone: 'waiting', document };
}

function progressOf(view: ServiceView): StatusLine {
  const { name, rollout, ready, desired, running, state, reason } = view;
  const counts =
    rollout === null ? `${ready} of ${desired} ready` : `updated ${rollout.updated} of ${desired}, ${ready} ready`;
  const document = { kind: 'progress', service: name, state, reason, running, ready, desired, rollout };
  return { id: name, label: state.toLowerCase(), detail: counts, document };
}
