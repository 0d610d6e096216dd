import type { ReadStream } from 'node:tty';
import { UsageError } from '../usage-error.ts';

const interrupt = '\u0003';
/** Enter, and the end of input (Ctrl-D). */
const ends: ReadonlySet<string> = new Set(['\r', '\n', '\u0004']);
const backspaces: ReadonlySet<string> = new Set(['\u007f', '\b']);

/**
 * Asks at the terminal without showing what is typed. Resolves with one line, without its end; Ctrl-C throws. The
 * terminal is as it was again when this ends, however it ends.
 */
export async function askSilently(
  input: Pick<ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause' | 'setEncoding'>,
  prompt: (text: string) => void,
  question: string,
): Promise<string> {
  input.setEncoding('utf8');
  // Before the question is seen: whoever answers at once must not be shown what they type.
  input.setRawMode(true);
  prompt(question);
  try {
    return await readLine(input);
  } finally {
    input.setRawMode(false);
    input.pause();
    prompt('\n');
  }
}

function readLine(input: Pick<ReadStream, 'on' | 'off' | 'resume'>): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = '';
    const settle = (end: () => void): void => {
      input.off('data', take);
      input.off('end', ended);
      end();
    };
    const take = (text: string): void => {
      for (const key of text) {
        if (ends.has(key)) {
          settle(() => resolve(line));
          return;
        }
        if (key === interrupt) {
          settle(() => reject(new UsageError('nothing was set')));
          return;
        }
        line = backspaces.has(key) ? Array.from(line).slice(0, -1).join('') : line + key;
      }
    };
    const ended = (): void => settle(() => resolve(line));
    input.on('data', take);
    input.on('end', ended);
    input.resume();
  });
}
