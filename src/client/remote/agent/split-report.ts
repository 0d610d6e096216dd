import type { NodeReport } from '../../../core/command.ts';
import { longestFrameBytes, mostEventsPerReport } from '../../../wire/agent-protocol.ts';
import { fitEvent } from './fit-event.ts';

/** What an agent reports, of whichever node and instance it is. */
export type Report = Omit<NodeReport, 'kind' | 'node' | 'instance'>;

/** Into reports that each fit into a frame, in order; what is not of events goes with the first. */
export function splitReport({ events, released, ...rest }: Report): readonly Report[] {
  const parts: Report[] = [];
  let part: NodeReport['events'][number][] = [];
  let sizeBytes = 0;
  for (const event of events.map(fitEvent)) {
    const eventBytes = JSON.stringify(event).length;
    if (part.length === mostEventsPerReport || (part.length > 0 && sizeBytes + eventBytes > longestFrameBytes)) {
      parts.push({ events: part, released: [] });
      [part, sizeBytes] = [[], 0];
    }
    part.push(event);
    sizeBytes += eventBytes;
  }
  for (let at = 0; at === 0 || at < released.length; at += mostEventsPerReport) {
    parts.push({ events: at === 0 ? part : [], released: released.slice(at, at + mostEventsPerReport) });
  }
  return parts.map((one, position) => (position === 0 ? { ...one, ...rest } : one));
}
