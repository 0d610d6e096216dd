import type { SettingsLayer } from '../core/profile/settings.ts';
import { refuse } from '../core/refusal.ts';
import type { State } from '../core/state.ts';
import { parseProfileDocument } from '../wire/parse-document.ts';
import type { Profiles } from './api.ts';
import { withDocumentRefusals } from './document-refusals.ts';
import { type Embedded, execute } from './embedded.ts';
import { RefusalError } from './refusal-error.ts';

export function createProfiles(embedded: Embedded): Profiles {
  return {
    async list() {
      await embedded.plane.catchUp();
      return [...embedded.plane.state.profiles.values()].map(({ name, revision, source }) => ({
        name,
        revision,
        source,
      }));
    },
    async apply(document) {
      const { name, values } = withDocumentRefusals(() => parseProfileDocument(document, { origin: 'profile' }));
      const by = embedded.actor.name;
      const answer = await execute(embedded, { kind: 'ApplyProfile', name, values, source: document, by });
      if (answer.kind !== 'applied') throw new Error(`a profile was answered with ${answer.kind}`);
      return { revision: answer.revision, changed: answer.changed };
    },
  };
}

/** The named profile as the layer it would be, or none; throws NOT_FOUND for an unknown name. */
export function profileLayers(state: State, name: string | null): readonly SettingsLayer[] {
  if (name === null) return [];
  const profile = state.profiles.get(name);
  if (profile === undefined) throw new RefusalError(refuse('NOT_FOUND', `there is no profile ${JSON.stringify(name)}`));
  return [{ origin: `profile ${name}@${profile.revision}`, values: profile.values }];
}
