import type { Quota } from '../../client/api.ts';
import { UsageError } from '../usage-error.ts';

const keys = ['replicas', 'gpus', 'cores', 'queued'] as const satisfies readonly (keyof Quota)[];
const example = '--quota replicas=8,gpus=16,cores=64,queued=1000, or gpus=none';

/** `gpus=16,queued=none`. Throws a UsageError. */
export function readQuota(text: string | undefined): Partial<Quota> {
  const quota: { -readonly [Key in keyof Quota]?: number | null } = {};
  for (const part of text === undefined ? [] : text.split(',')) {
    const [, name, limit = ''] = /^([a-z]+)=(none|\d+(?:\.\d+)?)$/.exec(part.trim()) ?? [];
    const key = keys.find((one) => one === name);
    if (key === undefined) throw new UsageError(`--quota has ${JSON.stringify(part)}`, example);
    if (key in quota) throw new UsageError(`--quota names ${key} twice`, example);
    quota[key] = limit === 'none' ? null : Number(limit);
  }
  return quota;
}
