import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Context } from '../context.ts';
import { askSilently } from './ask-silently.ts';
import { readSecretValue } from './read-secret.ts';

/** A terminal on which keys are pressed. */
class Terminal extends EventEmitter {
  readonly modes: boolean[] = [];
  isPaused = false;
  setRawMode(on: boolean): this {
    this.modes.push(on);
    return this;
  }
  setEncoding(): this {
    return this;
  }
  resume(): this {
    return this;
  }
  pause(): this {
    this.isPaused = true;
    return this;
  }
}

function ask(...typed: readonly string[]) {
  const terminal = new Terminal();
  let shown = '';
  const answer = askSilently(
    terminal as unknown as Parameters<typeof askSilently>[0],
    (text) => {
      shown += text;
    },
    'value of secret hf: ',
  );
  for (const keys of typed) terminal.emit('data', keys);
  return { answer, terminal, shown: () => shown };
}

describe('a value asked for at the terminal', () => {
  it('is not shown, can be corrected, and leaves the terminal as it was [R4.25]', async () => {
    const { answer, terminal, shown } = ask('canari', '\u007fy é\u{1f600}\u007f', '!\r', 'more');
    expect(await answer).toBe('canary é!');
    expect(shown()).toBe('value of secret hf: \n');
    expect(terminal.modes).toEqual([true, false]);
    expect([terminal.isPaused, terminal.listenerCount('data')]).toEqual([true, 0]);
  });

  it('may be pasted, or ended with Ctrl-D', async () => {
    expect(await ask('pasted at once\n').answer).toBe('pasted at once');
    expect(await ask('typed', '\u0004').answer).toBe('typed');
  });

  it('is given up by Ctrl-C, and the terminal is as it was', async () => {
    const { answer, terminal } = ask('half', '\u0003');
    await expect(answer).rejects.toThrow('nothing was set');
    expect(terminal.modes).toEqual([true, false]);
  });
});

describe('a value that is read', () => {
  const context = (stdin: string): Context => ({ cwd: '/', readStdin: () => Promise.resolve(stdin) }) as Context;
  const read = async (stdin: string, file?: string): Promise<string> =>
    new TextDecoder().decode(await readSecretValue(context(stdin), 'hf', file));

  it('loses one line end of stdin and nothing else', async () => {
    expect(await read('a\nb\n')).toBe('a\nb');
    expect(await read('a\r\n')).toBe('a');
    expect(await read(' a \n\n')).toBe(' a \n');
    await expect(read('\n')).rejects.toThrow('there is no value for the secret');
  });

  it('keeps every byte of a file, and says what is wrong with one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'runyard-secret-'));
    writeFileSync(join(folder, 'token'), 'a\n');
    expect(await read('', join(folder, 'token'))).toBe('a\n');
    await expect(read('', join(folder, 'nowhere'))).rejects.toThrow('does not exist');
    await expect(read('', folder)).rejects.toThrow('is a folder');
    rmSync(folder, { recursive: true });
  });
});
