import * as z from 'zod';

/**
 * A command beside a task, over a WebSocket between the client and the server (`GET /v1/jobs/{id}/exec`).
 *
 * Text frames are JSON by the schemas below. Binary frames begin with one byte that names the stream and carry its
 * bytes; one without bytes ends the stream. A side that cannot take more stops reading its socket, and TCP holds the
 * other up. The client says `start` first and nothing before; the server closes after `exit` or `refused`.
 */
export const execStreams = { stdin: 0, stdout: 1, stderr: 2 } as const;
export type ExecStream = keyof typeof execStreams;

const size = z.int().min(1).max(10_000);
const text = z.string().max(128 * 1024);

/** Signals that a person may send to it. */
export const execSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGKILL'] as const;

/** What the client says. */
export const execRequest = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('start'),
    /** Empty: a shell. */
    command: z.array(text).max(10_000),
    /** Null: pipes. With a terminal, stdout and stderr are one stream. */
    terminal: z.strictObject({ columns: size, rows: size, type: text }).nullable(),
  }),
  z.strictObject({ kind: z.literal('resize'), columns: size, rows: size }),
  z.strictObject({ kind: z.literal('signal'), signal: z.enum(execSignals) }),
]);
export type ExecRequest = z.output<typeof execRequest>;

/** What the server answers. */
export const execAnswer = z.discriminatedUnion('kind', [
  /** `terminal` is false where one was asked for and the node cannot make one. */
  z.object({ kind: z.literal('started'), node: text, terminal: z.boolean() }),
  z.object({ kind: z.literal('exit'), exitCode: z.int().nullable(), signal: z.int().nullable() }),
  z.object({
    kind: z.literal('refused'),
    error: z.object({ code: text, message: text, hint: text.nullable(), path: text.nullable() }),
  }),
]);
export type ExecAnswer = z.output<typeof execAnswer>;

/** A binary frame. */
export function encodeExecBytes(stream: ExecStream, bytes: Uint8Array): Uint8Array {
  const frame = new Uint8Array(bytes.length + 1);
  frame[0] = execStreams[stream];
  frame.set(bytes, 1);
  return frame;
}

/** What a binary frame carries; null where it names no stream. */
export function decodeExecBytes(frame: Uint8Array): { readonly stream: ExecStream; readonly bytes: Uint8Array } | null {
  const names = Object.keys(execStreams) as ExecStream[];
  const stream = names.find((name) => execStreams[name] === frame[0]);
  return stream === undefined ? null : { stream, bytes: frame.subarray(1) };
}
