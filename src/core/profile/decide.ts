import type { Command } from '../command.ts';
import type { Decision } from '../decide.ts';
import { checkName, checkSettings } from '../job/check-spec.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { State } from '../state.ts';
import { mergeSettings, type SettingsLayer } from './settings.ts';

/** Applying the same profile again changes nothing; a change makes the next revision. */
export function decideApplyProfile(
  state: State,
  command: Extract<Command, { kind: 'ApplyProfile' }>,
): Decision | Refusal {
  const { name, values, source, by } = command;
  const merged = mergeSettings([{ origin: name, values }]);
  const wrong = checkName(name, 'profile.name') ?? checkSettings(merged.settings);
  if (wrong !== null) return wrong;
  const known = state.profiles.get(name);
  if (known !== undefined && JSON.stringify(known.values) === JSON.stringify(values)) {
    return { facts: [], answer: { kind: 'applied', revision: known.revision, changed: false } };
  }
  const revision = (known?.revision ?? 0) + 1;
  return {
    facts: [{ kind: 'ProfileApplied', name, revision, values, source, by }],
    answer: { kind: 'applied', revision, changed: true },
  };
}

/** The named profile as the layer it is, or none; refused when there is no such profile. */
export function profileLayersOf(state: State, name: string | null): readonly SettingsLayer[] | Refusal {
  if (name === null) return [];
  const profile = state.profiles.get(name);
  if (profile !== undefined) return [{ origin: `profile ${name}@${profile.revision}`, values: profile.values }];
  const known = [...state.profiles.keys()].sort();
  return refuse('NOT_FOUND', `there is no profile ${JSON.stringify(name)}`, {
    path: 'profile',
    hint: known.length === 0 ? 'yard apply a file with [profile] and a name first' : `there are: ${known.join(', ')}`,
  });
}
