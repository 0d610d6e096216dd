import { type Settings, settingKeys } from '../core/profile/settings.ts';
import { writeSetting } from '../wire/write-setting.ts';
import type { SettingView } from './api.ts';

/** Every effective value, as a file would write it, with the origin that won. */
export function viewSettings(settings: Settings, origins: Readonly<Record<string, string>>): readonly SettingView[] {
  return settingKeys.map((key) => {
    const { key: written, value } = writeSetting(key, valueAt(settings, key));
    return { key: written, value, origin: origins[key] ?? 'built-in' };
  });
}

function valueAt(settings: Settings, key: string): unknown {
  let value: unknown = settings;
  for (const part of key.split('.')) value = (value as Record<string, unknown>)[part];
  return value;
}
