import type { NodeReport } from '../../../core/command.ts';

type Event = NodeReport['events'][number];

/** What a sentence of a report may be long: a node that says more than its server reads would never be heard again. */
const longestText = 4000;
/** Together, for all outputs of a task. */
const longestReasons = 200_000;

/** The event with its sentences cut to what a server reads; they are for people, and the logs have the rest. */
export function fitEvent(event: Event): Event {
  switch (event.kind) {
    case 'SetupFailed':
      return {
        ...event,
        line: event.line === null ? null : { ...event.line, text: cut(event.line.text) },
        detail: cutOrNull(event.detail),
      };
    case 'JobExited':
      return { ...event, detail: cutOrNull(event.detail) };
    case 'ReadinessChanged':
      return { ...event, reason: cutOrNull(event.reason) };
    case 'Restarted':
      return { ...event, lastFailure: cut(event.lastFailure) };
    case 'GaveUp':
    case 'NodeFault':
      return { ...event, message: cut(event.message) };
    case 'OutputsCollected': {
      const most = Math.min(longestText, Math.floor(longestReasons / Math.max(1, event.outputs.length)));
      return { ...event, outputs: event.outputs.map((output) => ({ ...output, why: cutOrNull(output.why, most) })) };
    }
    default:
      return event;
  }
}

function cutOrNull(text: string | null, most = longestText): string | null {
  return text === null ? null : cut(text, most);
}

function cut(text: string, most = longestText): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
