import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lab, openLab } from './lab.ts';

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

describe('a log that was damaged', () => {
  const damages: readonly [string, (path: string) => void, RegExp][] = [
    ['cut short', (path) => truncateSync(path, 20_000), /log\.db: database disk image is malformed \(the file is dam/],
    [
      'emptied',
      (path) => truncateSync(path, 0),
      /log\.db has 0 bytes, and it was in use before: .* remove the empty file/,
    ],
    ['of another kind', (path) => writeFileSync(path, 'no log '.repeat(100)), /log\.db: file is not a database/],
    ['changed by hand', (path) => replace(path, '"JobSubmitted"', '"JobSubmittee"'), /the log is damaged at fact \d+/],
  ];
  for (const [how, damage, message] of damages) {
    it(`and is ${how} refuses every command and is found by the doctor; nothing is written`, async () => {
      expect(await lab.yard(['run', '--no-workspace', '--', 'true'])).toMatchObject({ code: 0 });
      const path = join(lab.home, 'log.db');
      damage(path);
      const before = readFileSync(path);
      const jobs = await lab.yard(['jobs']);
      expect(jobs.code).toBe(1);
      expect(jobs.stderr).toMatch(message);
      const run = await lab.yard(['run', '--no-workspace', '--', 'true']);
      expect(run.code).toBe(125);
      expect(run.stderr).toMatch(message);
      const doctor = await lab.yard(['doctor']);
      expect(doctor.code).toBe(1);
      expect(doctor.stdout).toMatch(/WRONG +log/);
      if (how !== 'changed by hand') expect(readFileSync(path)).toEqual(before);
    });
  }

  function replace(path: string, from: string, to: string): void {
    const text = readFileSync(path, 'latin1');
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to), 'latin1');
  }
});

describe('a stdout that takes no more', () => {
  it('loses what is printed and not the job: it is followed to its end, and the loss shows in the code', async () => {
    const lost = await lab.shell('yard run --no-workspace -- sh -c "echo a; sleep 0.2; echo b" > /dev/full');
    expect(lost.code).toBe(125);
    expect(lost.stderr).toMatch(/error: stdout takes no more: ENOSPC.*COMPLETED/s);
    const own = await lab.shell('yard run --no-workspace -- sh -c "echo a; exit 4" > /dev/full');
    expect(own.code).toBe(4);
    expect(own.stderr.match(/takes no more/g)).toHaveLength(1);
    expect((await lab.shell('yard jobs > /dev/full')).code).toBe(1);
  });

  it('or that nobody reads any more ends what only prints, and no job', async () => {
    const read = await lab.shell(
      '{ yard run --no-workspace -- sh -c "yes | head -1000000; exit 4"; echo "code $?" >&2; } | head -1',
    );
    expect(read.stdout).toBe('y\n');
    expect(read.stderr).toMatch(/exited with code 4[\s\S]*code 4\n$/);
  });
});
