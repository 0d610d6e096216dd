import { describe, expect, it } from 'vitest';
import { decodeExecBytes, encodeExecBytes, execAnswer, execRequest } from './exec-protocol.ts';

describe('the frames of exec', () => {
  it('carry the bytes of a stream, and none of an unknown one', () => {
    const bytes = new Uint8Array([0, 255, 10]);
    expect(decodeExecBytes(encodeExecBytes('stderr', bytes))).toEqual({ stream: 'stderr', bytes });
    expect(decodeExecBytes(encodeExecBytes('stdin', new Uint8Array()))).toEqual({
      stream: 'stdin',
      bytes: new Uint8Array(),
    });
    expect(decodeExecBytes(new Uint8Array([9, 1]))).toBeNull();
    expect(decodeExecBytes(new Uint8Array())).toBeNull();
  });

  it('refuse what a client may not say, and let a newer server say more', () => {
    expect(execRequest.safeParse({ kind: 'signal', signal: 'SIGSTOP' }).success).toBe(false);
    expect(execRequest.safeParse({ kind: 'resize', columns: 0, rows: 24 }).success).toBe(false);
    expect(execAnswer.parse({ kind: 'exit', exitCode: 3, signal: null, since: 1 })).toEqual({
      kind: 'exit',
      exitCode: 3,
      signal: null,
    });
  });
});
