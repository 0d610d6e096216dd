import { describe, expect, it } from 'vitest';
import { mergeSettings, type PartialSettings } from '../../core/profile/settings.ts';
import { isSupervised, probesOf } from './probes-of.ts';

const settingsOf = (values: PartialSettings) => mergeSettings([{ origin: 'test', values }]).settings;

describe('what is supervised', () => {
  it.each([
    [{}, false],
    [{ port: true }, false],
    [{ kind: 'service' }, true],
    // Nothing is restarted and nothing is written about probes: yet a service must learn when it is ready (X3).
    [{ kind: 'service', restart: { policy: 'never' } }, true],
    [{ restart: { policy: 'on-failure' } }, true],
  ] as const)('is all that stays up, is restarted or probed [X1] [X3] (%j)', (values, expected) => {
    expect(isSupervised(settingsOf(values))).toBe(expected);
  });

  it('is ready once its port is open, where it says nothing else [X3]', () => {
    const settings = settingsOf({ kind: 'service' });
    expect(probesOf(settings, 4000).readiness?.ask).toEqual({ kind: 'tcp' });
    expect(probesOf(settings, null).readiness).toBeNull();
  });
});
