import type { Service } from '../core/service/service.ts';
import type { ServiceView } from '../core/service/view.ts';
import type { Explanation } from './api.ts';
import { viewSettings } from './settings-view.ts';

/** One sentence: why it waits, where its rollout is stuck, or that all is well (B10). */
export function explainService(service: Service, view: ServiceView): Explanation {
  const revision = service.revisions.get(view.revision);
  const settings = revision === undefined ? [] : viewSettings(revision.settings, revision.origins);
  return { sentence: `${view.name} is ${view.state}: ${because(view)}`, settings };
}

function because(view: ServiceView): string {
  const { state, reason, rollout, ready, desired, revision } = view;
  const counts = `${ready} of ${desired} ready`;
  if (state === 'STOPPED') return 'it was stopped, and applying it again starts it';
  if (state === 'COMPLETED') return 'every replica ended well, and none is wanted again';
  if (state === 'UPDATING' && rollout !== null) {
    const way = rollout.from === rollout.to ? `revision ${rollout.to}` : `revision ${rollout.from} → ${rollout.to}`;
    return `${way}, updated ${rollout.updated} of ${desired}; ${reason ?? counts}`;
  }
  return reason === null ? `${counts} on revision ${revision}` : `${counts}; ${reason}`;
}
