import { appendFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { argv, createTestNode, pause, type TestAttempt, type TestNode } from './attempt.testsuite.ts';
import { keepLogs } from './log-keeper.ts';
import { readLog } from './log-reader.ts';
import { rotateLog } from './log-rotation.ts';
import type { LogPlace } from './log-segments.ts';
import { createLogTimes, interleave, offsetsAt, readLogTimes } from './log-times.ts';
import { createQuietLogs } from './quiet-logs.ts';

let node: TestNode;
beforeAll(async () => {
  node = await createTestNode();
});
afterAll(() => node.close());

const outOf = (attempt: TestAttempt): LogPlace => ({
  files: node.host.files,
  directory: attempt.directory,
  label: 'run',
  stream: 'out',
});
const decode = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** Follows the log from its start until the whole of it was read and `isOver` holds. */
async function follow(place: LogPlace, isOver: () => boolean): Promise<string> {
  let text = '';
  for (let offset = 0; ; ) {
    const wasOver = isOver();
    const part = await readLog(place, offset, 50_000);
    expect(part.droppedBytes).toBe(0);
    text += decode(part.bytes);
    offset = part.nextOffset;
    if (part.bytes.length > 0) continue;
    if (wasOver) return text;
    await pause();
  }
}

describe('rotation', () => {
  it('loses no line of a fast writer, nor shows one twice, while a reader follows', async () => {
    const attempt = node.newAttempt();
    const place = outOf(attempt);
    const enough = join(attempt.directory, 'enough');
    const writer =
      'i=0; while [ $i -lt 40 ] || [ ! -e "$0" ]; do seq $((i * 5000)) $((i * 5000 + 4999)); i=$((i + 1)); sleep 0.002; done';
    const start = await attempt.start(argv('sh', '-c', writer, enough));
    let over = false;
    const ended = attempt.waitForEnd(start).then(() => {
      over = true;
    });
    const reading = follow(place, () => over);
    let rotations = 0;
    while (!over) {
      if ((await rotateLog(place, { segmentBytes: 20_000, keepBytes: 1e9 })) === 'rotated') rotations += 1;
      if (rotations > 2) writeFileSync(enough, '');
      await pause();
    }
    await ended;
    await rotateLog(place, { segmentBytes: 20_000, keepBytes: 1e9 });
    const lines = (await reading).split('\n').slice(0, -1);
    expect(lines.length % 5000).toBe(0);
    expect(lines.length).toBeGreaterThanOrEqual(200_000);
    expect(lines.every((line, index) => line === String(index))).toBe(true);
    const live = statSync(join(attempt.directory, 'run.out'));
    expect(live.blocks * 512).toBeLessThan(live.size / 2);
  });

  it('keeps a limited number of bytes and says how many are missing [R4.42]', async () => {
    const attempt = node.newAttempt();
    const place = outOf(attempt);
    const path = join(attempt.directory, 'run.out');
    for (let block = 0; block < 10; block += 1) {
      appendFileSync(path, String(block).repeat(8192));
      await rotateLog(place, { segmentBytes: 4096, keepBytes: 3 * 8192 });
    }
    appendFileSync(path, 'tail');
    const first = await readLog(place, 100, 10);
    expect(first).toEqual({ bytes: new TextEncoder().encode('7777777777'), nextOffset: 57_354, droppedBytes: 57_244 });
    expect(decode((await readLog(place, 10 * 8192, 100)).bytes)).toBe('tail');
    expect((await readLog(place, 10 * 8192 + 4, 100)).nextOffset).toBe(10 * 8192 + 4);
  });

  it('goes on after a crash in the middle of a rotation', async () => {
    const attempt = node.newAttempt();
    const place = outOf(attempt);
    const text = 'abcdefgh'.repeat(2048);
    writeFileSync(join(attempt.directory, 'run.out'), text);
    // A half-written copy, and a segment whose hole was not punched yet.
    writeFileSync(join(attempt.directory, 'run.out.rotating'), 'abc');
    writeFileSync(join(attempt.directory, 'run.out.0-8192'), text.slice(0, 8192));
    expect(await rotateLog(place, { segmentBytes: 4096, keepBytes: 1e9 })).toBe('rotated');
    expect(await follow(place, () => true)).toBe(text);
    const names = readdirSync(attempt.directory).filter((name) => name.startsWith('run.out'));
    expect(names).toEqual(['run.out', 'run.out.0-8192', 'run.out.8192-16384']);
  });

  it('reads nothing from a log that is not there yet', async () => {
    const part = await readLog(outOf(node.newAttempt()), 0, 100);
    expect(part).toEqual({ bytes: new Uint8Array(), nextOffset: 0, droppedBytes: 0 });
  });
});

describe('the index of times', () => {
  it('puts the streams in the order in which they were written', async () => {
    const { directory } = node.newAttempt();
    const note = createLogTimes({ host: node.host, directory, label: 'run' });
    for (const [stream, line] of [
      ['out', 'one\n'],
      ['err', 'two\n'],
      ['out', 'three\n'],
    ] as const) {
      appendFileSync(join(directory, `run.${stream}`), line);
      expect(await note()).toMatchObject({ grew: true });
      expect(await note()).toMatchObject({ grew: false });
    }
    const times = await readLogTimes({ files: node.host.files, directory, label: 'run' });
    const stretches = interleave(times, { outBytes: 0, errBytes: 0 }, { outBytes: 10, errBytes: 4 });
    expect(stretches.map(({ stream, startBytes, endBytes }) => [stream, startBytes, endBytes])).toEqual([
      ['out', 0, 4],
      ['err', 0, 4],
      ['out', 4, 10],
    ]);
  });

  it('has the last sizes when the keeper ends with its command', async () => {
    const attempt = node.newAttempt();
    const { directory } = attempt;
    const end = new AbortController();
    const limits = { segmentBytes: 1000, keepBytes: 1e6 };
    const { host } = node;
    const quietLogs = createQuietLogs(host);
    const keeping = keepLogs({ host, quietLogs, directory, label: 'run', limits, signal: end.signal });
    await attempt.run(argv('sh', '-c', 'seq 1 5000; echo done >&2'));
    end.abort();
    await keeping;
    const times = await readLogTimes({ files: node.host.files, directory, label: 'run' });
    expect(times.at(-1)).toMatchObject({ outBytes: 23_893, errBytes: 5 });
    expect(readdirSync(directory)).toContain('run.out.0-20480');
  });

  it('orders what no note covers after the rest', () => {
    const times = [
      { atMs: 10, outBytes: 5, errBytes: 0 },
      { atMs: 20, outBytes: 5, errBytes: 3 },
    ];
    expect(interleave(times, { outBytes: 2, errBytes: 0 }, { outBytes: 9, errBytes: 4 })).toEqual([
      { stream: 'out', startBytes: 2, endBytes: 5, atMs: 10 },
      { stream: 'err', startBytes: 0, endBytes: 3, atMs: 20 },
      { stream: 'out', startBytes: 5, endBytes: 9, atMs: null },
      { stream: 'err', startBytes: 3, endBytes: 4, atMs: null },
    ]);
    expect(offsetsAt(times, 20)).toEqual({ outBytes: 5, errBytes: 0 });
    expect(offsetsAt(times, 5)).toEqual({ outBytes: 0, errBytes: 0 });
  });
});
