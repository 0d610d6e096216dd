import type { ServiceView } from '../../core/service/view.ts';
import type { Output, StatusLine } from '../output/output.ts';
import { hintFor, lastFailureOf, replicaLine, restartsIn } from './replica-line.ts';
import { serviceFrame, troubleOf, updatedText } from './service-frame.ts';

/** Tells what becomes of a service: on a terminal one picture that changes in place, in a pipe a line for each change. */
export interface ServiceNarrator {
  see(view: ServiceView): void;
  end(): void;
}

export function createServiceNarrator({ output, nowMs }: { output: Output; nowMs: () => number }): ServiceNarrator {
  const said = new Map<string, string>();
  let progress = '';
  let trouble = '';
  return {
    see(view) {
      output.frame(serviceFrame(view, nowMs()));
      if (output.kind === 'terminal') return;
      for (const replica of view.replicas) {
        const { word, detail, tone } = replicaLine(replica, nowMs());
        // Counts of a probe and the time it is up change all the time; they are no news.
        const hint = hintFor(replica);
        const isExplained = replica.reason !== null && word !== 'ready';
        const news = `${word} ${isExplained} ${restartsIn(replica)} ${lastFailureOf(replica) ?? ''} ${hint ?? ''}`;
        if (said.get(replica.id) === news) continue;
        said.set(replica.id, news);
        output.status({
          id: replica.id,
          label: `rev ${replica.revision}  ${word}`,
          detail: word === 'ready' ? '' : detail,
          ...(tone === 'waiting' ? { tone } : {}),
          ...(hint === null ? {} : { below: [hint] }),
          document: { kind: 'replica', service: view.name, state: word, detail, replica },
        });
      }
      const wrong = troubleOf(view);
      const cause = withoutCountdown(wrong ?? '');
      if (wrong !== null && cause !== trouble) output.status(troubleLine(view.name, wrong));
      trouble = cause;
      const next = progressOf(view);
      if (next.detail !== progress) output.status(next);
      progress = next.detail;
    },
    end() {
      output.frame(null);
    },
  };
}

/** How long it still takes is no news: it is less in every view. */
function withoutCountdown(reason: string): string {
  return reason.replace(/; replaced in [^;]*$/, '');
}

function troubleLine(name: string, reason: string): StatusLine {
  const document = { kind: 'trouble', service: name, reason };
  return { id: name, label: 'waiting', detail: reason, tone: 'waiting', document };
}

function progressOf(view: ServiceView): StatusLine {
  const { name, rollout, ready, desired, running, state, reason } = view;
  const counts = rollout === null ? `${ready} of ${desired} ready` : `${updatedText(rollout, desired)}, ${ready} ready`;
  const document = { kind: 'progress', service: name, state, reason, running, ready, desired, rollout };
  return { id: name, label: state.toLowerCase(), detail: counts, document };
}
