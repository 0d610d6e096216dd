/**
 * The few web globals that every runtime has and that neither read a clock nor reach outside.
 * Floors that compile without Node's types may use these and nothing else.
 */
interface AbortSignal {
  readonly aborted: boolean;
  readonly reason: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}
interface AbortController {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
}
declare var AbortController: { new (): AbortController };
interface TextEncoder {
  encode(text?: string): Uint8Array;
}
declare var TextEncoder: { new (): TextEncoder };
interface TextDecoder {
  decode(bytes?: Uint8Array, options?: { stream?: boolean }): string;
}
declare var TextDecoder: { new (label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean }): TextDecoder };
