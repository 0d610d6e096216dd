import { nothingTrimmed, type Trim } from './trim.ts';

/** The simulator's command line, read. */
export interface SimOptions {
  readonly seed: number | null;
  /** A failing seed to make smaller. */
  readonly shrink: number | null;
  readonly seeds: number;
  readonly minutes: number | null;
  readonly from: number;
  readonly served: boolean;
  readonly services: boolean;
  readonly trace: boolean;
  readonly log: boolean;
  readonly coverage: boolean;
  readonly trim: Trim;
}

export const usage = [
  'usage: npm run sim -- [--served] [--services] [--seed N | --shrink N | --seeds N | --minutes M] [--from N]',
  '                      [--trace] [--log] [--coverage] [--without KIND,…] [--strikes N] [--intents N] [--for MS]',
  '       npm run sim -- --mutations [--list] [--within N] [NAME…]',
].join('\n');

const flags = ['--served', '--services', '--trace', '--log', '--coverage'];
const numbers = ['--seed', '--shrink', '--seeds', '--minutes', '--from', '--strikes', '--intents', '--for'];

/** Null for what it does not know. */
export function readOptions(words: readonly string[]): SimOptions | null {
  const given = new Map<string, string>();
  for (let i = 0; i < words.length; i += 1) {
    const name = words[i] ?? '';
    const value = words[i + 1] ?? '';
    if (flags.includes(name)) {
      given.set(name, '');
      continue;
    }
    if (name !== '--without' && !(numbers.includes(name) && value !== '' && Number(value) >= 0)) return null;
    given.set(name, value);
    i += 1;
  }
  const number = (name: string): number | null => (given.has(name) ? Number(given.get(name)) : null);
  const minutes = number('--minutes');
  return {
    seed: number('--seed'),
    shrink: number('--shrink'),
    seeds: number('--seeds') ?? (minutes === null ? 1000 : Infinity),
    minutes,
    from: number('--from') ?? 1,
    served: given.has('--served'),
    services: given.has('--services'),
    trace: given.has('--trace'),
    log: given.has('--log'),
    coverage: given.has('--coverage'),
    trim: {
      without: given.get('--without')?.split(',') ?? nothingTrimmed.without,
      strikes: number('--strikes'),
      intents: number('--intents'),
      forMs: number('--for'),
    },
  };
}
