/**
 * Streams within the agent's WebSocket: exec, outputs of a live task, later ports. A binary frame is
 *
 *     u32 stream id (big endian) | u8 kind | payload
 *
 * The server opens streams and draws their ids. `open` says in JSON what it is for; `data` is one message of either
 * side; `credit` (u32) lets the other side send so many bytes more; `end` says that no more data follows from this side;
 * `reset` breaks the stream off, with the reason in words. Nobody sends more than was allowed: one stream that is not
 * read holds up no other.
 */
export const frameKinds = { open: 0, data: 1, credit: 2, end: 3, reset: 4 } as const;
export type FrameKind = keyof typeof frameKinds;

export interface StreamFrame {
  readonly stream: number;
  readonly kind: FrameKind;
  readonly payload: Uint8Array;
}

/** Each side may send this much of a new stream before the first credit arrives. */
export const firstCreditBytes = 256 * 1024;

const headBytes = 5;
const kinds = Object.keys(frameKinds) as FrameKind[];

export function encodeStreamFrame({ stream, kind, payload }: StreamFrame): Uint8Array {
  const frame = new Uint8Array(headBytes + payload.length);
  new DataView(frame.buffer).setUint32(0, stream);
  frame[4] = frameKinds[kind];
  frame.set(payload, headBytes);
  return frame;
}

/** Null for what is no frame. */
export function decodeStreamFrame(frame: Uint8Array): StreamFrame | null {
  const kind = kinds.find((one) => frameKinds[one] === frame[4]);
  if (frame.length < headBytes || kind === undefined) return null;
  const stream = new DataView(frame.buffer, frame.byteOffset, frame.byteLength).getUint32(0);
  return { stream, kind, payload: frame.subarray(headBytes) };
}

export function encodeCredit(bytes: number): Uint8Array {
  const payload = new Uint8Array(4);
  new DataView(payload.buffer).setUint32(0, bytes);
  return payload;
}

/** 0 for what is no credit. */
export function decodeCredit(payload: Uint8Array): number {
  if (payload.length !== 4) return 0;
  return new DataView(payload.buffer, payload.byteOffset, 4).getUint32(0);
}
