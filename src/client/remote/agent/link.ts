/** One connection between an agent and its server: frames in order, until it ends. */
export interface Link {
  sendText(text: string): void;
  sendBytes(bytes: Uint8Array): void;
  /** How much of what was sent is still here; absent where nothing ever waits. */
  waitingBytes?(): number;
  /** Stops reading, so that the other side is held up; `resume` goes on. */
  pause(): void;
  resume(): void;
  /** Ends it in good order; what was sent before still arrives. */
  close(code: number, reason: string): void;
  /** Ends it at once: the other side may be gone without a word. */
  abandon(): void;
}

/** Told of everything that comes in, and once of the end, whoever brought it about. */
export interface LinkListener {
  onText(text: string): void;
  onBytes(bytes: Uint8Array): void;
  onClose(code: number, reason: string): void;
}
