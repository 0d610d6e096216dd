/**
 * Server-sent events as this API uses them. A piece is one message with an id to resume after; a stream that is complete
 * says so with `event: end`, and one that fails with `event: error` and the same body as any refused request. A stream
 * that breaks off without either was cut, and is asked for again with `Last-Event-ID`.
 */
export interface StreamEvent {
  readonly kind: 'piece' | 'end' | 'error';
  /** Where to resume: behind this event. */
  readonly id: string | null;
  /** JSON. */
  readonly data: string;
}

/** One event as it is sent. */
export function writeStreamEvent({ kind, id, data }: StreamEvent): string {
  const lines = [...(kind === 'piece' ? [] : [`event: ${kind}`]), ...(id === null ? [] : [`id: ${id}`])];
  return [...lines, ...data.split('\n').map((line) => `data: ${line}`), '', ''].join('\n');
}

/** Sent when nothing else was for a while, so that both sides notice when the other is gone. */
export const keepAliveComment = ': still here\n\n';

/** Takes text as it arrives, cut anywhere, and gives the events that are whole by then. Comments are passed over. */
export function createStreamReader(): (text: string) => readonly StreamEvent[] {
  let rest = '';
  let event = '';
  let id: string | null = null;
  let data: string[] = [];
  return (text) => {
    const found: StreamEvent[] = [];
    const lines = `${rest}${text}`.split('\n');
    rest = lines.pop() ?? '';
    for (const whole of lines) {
      const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
      if (line === '') {
        const kind = event === 'end' || event === 'error' ? event : 'piece';
        if (data.length > 0) found.push({ kind, id, data: data.join('\n') });
        event = '';
        id = null;
        data = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') data.push(value);
      else if (field === 'event') event = value;
      else if (field === 'id') id = value;
    }
    return found;
  };
}
