import type { Command } from '../command.ts';
import type { Decision } from '../decide.ts';
import { checkName, checkSettings } from '../job/check-spec.ts';
import type { Refusal } from '../refusal.ts';
import type { State } from '../state.ts';
import { mergeSettings } from './settings.ts';

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
