import { describe, expect, it } from 'vitest';
import type { NodeReport } from '../../../core/command.ts';
import { agentMessage } from '../../../wire/agent-protocol.ts';
import { splitReport } from './split-report.ts';

type Event = NodeReport['events'][number];

/** What one message of a socket may be long at the server. */
const acceptedBytes = 4 * 1024 * 1024;
const key = { job: 'long-k3f9q2', index: 0, rank: 0, attempt: 1 };
const exit = { exitCode: 1, signal: null };
const long = '日'.repeat(200_000);
const outputs = Array.from({ length: 1000 }, (_, count) => ({
  path: `${'p'.repeat(125)}/${count}`,
  state: 'refused' as const,
  sizeBytes: null,
  why: long,
}));

/** Each kind that carries a sentence, with the longest that a job can bring about. */
const events: readonly Event[] = [
  { kind: 'SetupFailed', ...key, ...exit, line: { number: 3, text: long }, detail: long },
  { kind: 'ReadinessChanged', ...key, ready: false, reason: long },
  { kind: 'Restarted', ...key, restarts: 1, lastFailure: long },
  { kind: 'JobExited', ...key, ...exit, detail: long },
  { kind: 'GaveUp', ...key, message: long },
  { kind: 'OutputsCollected', ...key, ...exit, outputs, manifest: null },
  { kind: 'NodeFault', ...key, message: long, held: false },
];

describe('a report to a server', () => {
  it.each(events.map((event) => [event.kind, event] as const))(
    'of %s is one that the server reads, however much there is to say: it would be sent again for ever [I27] [R4.31]',
    (_kind, event) => {
      for (const part of splitReport({ events: [event], released: [] })) {
        const message = JSON.stringify({ kind: 'report', seq: 1, ...part });
        expect(Buffer.byteLength(message)).toBeLessThan(acceptedBytes);
        expect(agentMessage.safeParse(JSON.parse(message)).error).toBeUndefined();
      }
    },
  );

  it('of much goes in parts that each are, in order and with nothing left out', () => {
    const many = Array.from({ length: 2500 }, (_, count) => ({
      ...key,
      kind: 'GaveUp' as const,
      message: long,
      index: count,
    }));
    const parts = splitReport({ events: many, released: [] });
    for (const part of parts) expect(Buffer.byteLength(JSON.stringify(part))).toBeLessThan(acceptedBytes);
    expect(parts.flatMap((part) => part.events.map(({ index }) => index))).toEqual(many.map(({ index }) => index));
  });
});
