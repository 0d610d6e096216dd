import { genesisHash } from './batch.ts';
import { advanceLogTime } from './log-time.ts';
import { randomId } from './random-id.ts';
import type { LogHost } from './session.ts';
import type { Head } from './tables.ts';

/** Where a new log stands. It starts in the oldest format that its creator knows; the first append raises it as far as it may. */
export function newHead(host: LogHost, formats: readonly number[]): Head {
  return {
    incarnation: randomId(host.chance),
    format: Math.min(...formats),
    lastSeq: 0,
    lastHash: genesisHash,
    anchor: advanceLogTime(null, host.clock),
    outage: false,
  };
}
