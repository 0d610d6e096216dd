/** On the stream of a command a message begins with one byte: JSON text, or bytes as in a binary frame of exec. */
const forms = { text: 0, bytes: 1 } as const;

export type ExecMessage =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array };

export function encodeExecMessage(message: ExecMessage): Uint8Array {
  const content = message.kind === 'text' ? new TextEncoder().encode(message.text) : message.bytes;
  const encoded = new Uint8Array(content.length + 1);
  encoded[0] = forms[message.kind];
  encoded.set(content, 1);
  return encoded;
}

/** Null for what is no such message. */
export function decodeExecMessage(bytes: Uint8Array): ExecMessage | null {
  const content = bytes.subarray(1);
  if (bytes[0] === forms.text) return { kind: 'text', text: new TextDecoder().decode(content) };
  return bytes[0] === forms.bytes ? { kind: 'bytes', bytes: content } : null;
}
