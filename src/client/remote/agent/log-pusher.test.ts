import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Attempt, attemptOf } from '../../../agent/attempt.ts';
import { refuse } from '../../../core/refusal.ts';
import { createNodeFiles } from '../../../host/node/files.ts';
import { createNodeTimers } from '../../../host/node/timers.ts';
import { RefusalError } from '../../refusal-error.ts';
import { type LogPiece, LogPusher, pieceBytes } from './log-pusher.ts';

let directory: string;
let logs: LogPusher;
let attempt: Attempt;
/** What the server has of each file, gaps as dots. */
let kept: Map<string, Buffer>;
let pieces: LogPiece[];
let answer: (piece: LogPiece) => void;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'runyard-push-'));
  attempt = attemptOf(directory, 'n1', { job: 'a-222222', index: 0, rank: 0, attempt: 1 });
  mkdirSync(attempt.directory, { recursive: true });
  kept = new Map();
  pieces = [];
  answer = () => {};
  logs = newPusher();
});
afterEach(() => {
  logs.end();
  rmSync(directory, { recursive: true, force: true });
});

function newPusher(): LogPusher {
  const host = { files: createNodeFiles(), timers: createNodeTimers() };
  return new LogPusher({ host, directory, node: 'n1', push: async (piece) => take(piece) });
}

/** As the server does it. */
function take(piece: LogPiece): { sizeBytes: number; full: boolean } {
  pieces.push(piece);
  answer(piece);
  const before = kept.get(piece.file) ?? Buffer.alloc(0);
  const gap = piece.droppedFrom === before.length ? piece.offset - before.length : 0;
  if (piece.offset - gap !== before.length) return { sizeBytes: before.length, full: false };
  const after = Buffer.concat([before, Buffer.alloc(gap, '.'), piece.bytes]);
  kept.set(piece.file, after);
  return { sizeBytes: after.length, full: false };
}

const print = (text: string, file = 'run.out'): void => appendFileSync(`${attempt.directory}/${file}`, text);
const textOf = (file = 'run.out'): string => kept.get(file)?.toString() ?? '';

describe('logs on their way to the server', () => {
  it('follow what is written, and are whole once they are flushed', async () => {
    logs.open(attempt, true);
    print('one\n');
    await vi.waitFor(() => expect(textOf()).toBe('one\n'));
    print('two\n');
    print('oh\n', 'run.err');
    print('1 8 3\n', 'run.times');
    await logs.flush(attempt);
    expect([textOf(), textOf('run.err'), textOf('run.times')]).toEqual(['one\ntwo\n', 'oh\n', '1 8 3\n']);
  });

  it('travel in pieces of a bounded size', async () => {
    logs.open(attempt, true);
    print('x'.repeat(3 * pieceBytes + 5));
    await logs.flush(attempt);
    expect(textOf().length).toBe(3 * pieceBytes + 5);
    expect(Math.max(...pieces.map(({ bytes }) => bytes.length))).toBe(pieceBytes);
  });

  it('go on where an earlier agent came to', async () => {
    kept.set('run.out', Buffer.from('one\n'));
    print('one\ntwo\n');
    logs.open(attempt, false);
    await logs.flush(attempt);
    expect(textOf()).toBe('one\ntwo\n');
    expect(pieces.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBe(4);
  });

  it('say what rotation dropped before it could be pushed', async () => {
    // The live file is a hole up to 12, the first segment is gone already.
    writeFileSync(`${attempt.directory}/run.out`, `${'\0'.repeat(12)}new\n`);
    writeFileSync(`${attempt.directory}/run.out.8-12`, 'old\n');
    logs.open(attempt, true);
    await logs.flush(attempt);
    expect(textOf()).toBe('........old\nnew\n');
    expect(pieces[0]).toMatchObject({ offset: 8, droppedFrom: 0 });
  });

  it('are tried again while the server is away, and not again when it will not have them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let away = 2;
      answer = ({ file }) => {
        if (file === 'run.err') throw new RefusalError(refuse('NOT_ASSIGNED', 'not yours'));
        if (away-- > 0) throw new RefusalError(refuse('UNREACHABLE', 'away'));
      };
      logs.open(attempt, true);
      print('one\n');
      print('no\n', 'run.err');
      const flushed = logs.flush(attempt);
      await vi.waitFor(async () => {
        await vi.advanceTimersByTimeAsync(500);
        expect(textOf()).toBe('one\n');
      });
      await flushed;
      await logs.flush(attempt);
      expect(pieces.filter(({ file }) => file === 'run.err').length).toBe(1);
    } finally {
      vi.useRealTimers();
    }
  });

  it('wait by the dozen for a server that takes nothing, without a warning, and end at once', async () => {
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    answer = () => {
      throw new RefusalError(refuse('STORE_FULL', 'full'));
    };
    for (let index = 0; index < 12; index += 1) {
      const one = attemptOf(directory, 'n1', { job: 'a-222222', index, rank: 0, attempt: 1 });
      mkdirSync(one.directory, { recursive: true });
      writeFileSync(`${one.directory}/run.out`, 'x');
      logs.open(one, true);
      logs.close(one, one.directory);
    }
    await vi.waitFor(() => expect(new Set(pieces.map(({ task }) => task)).size).toBe(12));
    logs.end();
    await new Promise((resolve) => setImmediate(resolve));
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });

  it('hold up the end of a task for half a minute at most', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      answer = () => {
        throw new RefusalError(refuse('STORE_FULL', 'full'));
      };
      logs.open(attempt, true);
      print('one\n');
      let flushed = false;
      void logs.flush(attempt).then(() => {
        flushed = true;
      });
      await vi.advanceTimersByTimeAsync(29_000);
      expect(flushed).toBe(false);
      await vi.advanceTimersByTimeAsync(2000);
      expect(flushed).toBe(true);
    } finally {
      vi.useRealTimers();
    }
  });

  it('are brought by the next agent when the one before had put them aside and could not', async () => {
    print('last words\n');
    mkdirSync(`${directory}/ended`);
    const ended = `${directory}/ended/${attempt.name}`;
    renameSync(attempt.directory, ended);
    await logs.catchUp();
    await vi.waitFor(() => expect(textOf()).toBe('last words\n'));
    const files = createNodeFiles();
    await vi.waitFor(async () => expect(await files.stat(`${ended}/pushed`)).not.toBeNull());
    pieces = [];
    await newPusher().catchUp();
    expect(pieces).toEqual([]);
  });
});
