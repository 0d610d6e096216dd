/** The bytes of lower-case hex; what is no hex becomes a byte that no digest check will accept. */
export function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  for (let i = 0; i < bytes.length; i++) bytes[i] = (digit(text, 2 * i) << 4) | digit(text, 2 * i + 1);
  return bytes;
}

function digit(text: string, at: number): number {
  const unit = text.charCodeAt(at);
  return unit >= 97 ? unit - 87 : unit - 48;
}

/** True for a blob's name: 64 digits of lower-case hex. */
export function isBlobHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
