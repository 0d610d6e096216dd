import { describe, expect, it } from 'vitest';
import { createSignalBox } from './signal-box.ts';

describe('a signal box', () => {
  it('loses no ring, whether it came before or during a wait', async () => {
    const box = createSignalBox();
    box.ring();
    await box.wait();
    const waiting = box.wait();
    box.ring();
    await waiting;
    expect(box.isEnded()).toBe(false);
  });

  it('throws out whoever waits when it is closed, and whoever waits later', async () => {
    const box = createSignalBox();
    const waiting = box.wait();
    box.close();
    await expect(waiting).rejects.toThrow('the client was closed');
    await expect(box.wait()).rejects.toThrow('the client was closed');
  });

  it('ends quietly what was aborted, though it is closed in the same breath', async () => {
    const end = new AbortController();
    const box = createSignalBox(end.signal);
    const waiting = box.wait();
    end.abort();
    box.close();
    await waiting;
    await box.wait();
    expect(box.isEnded()).toBe(true);
  });
});
