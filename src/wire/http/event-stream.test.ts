import { describe, expect, it } from 'vitest';
import { createStreamReader, keepAliveComment, type StreamEvent, writeStreamEvent } from './event-stream.ts';

const events: readonly StreamEvent[] = [
  { kind: 'piece', id: '7', data: '{"a":"line\\n"}' },
  { kind: 'piece', id: null, data: 'two\nlines' },
  { kind: 'error', id: null, data: '{"error":{}}' },
  { kind: 'end', id: '9', data: '{}' },
];

describe('events on a stream', () => {
  it('are read as they were written, wherever the text is cut', () => {
    const text = events.map((event) => `${keepAliveComment}${writeStreamEvent(event)}`).join('');
    for (let size = 1; size <= text.length; size += 1) {
      const read = createStreamReader();
      const found: StreamEvent[] = [];
      for (let at = 0; at < text.length; at += size) found.push(...read(text.slice(at, at + size)));
      expect(found).toEqual(events);
    }
  });

  it('wait for their empty line', () => {
    const read = createStreamReader();
    expect(read('id: 4\r\ndata: {}\r\n')).toEqual([]);
    expect(read('\r\n')).toEqual([{ kind: 'piece', id: '4', data: '{}' }]);
  });
});
