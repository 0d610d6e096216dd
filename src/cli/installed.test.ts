import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildYard, makePlace, type Place, yardPath } from './yard.testsuite.ts';

let place: Place;
let installed: string;

beforeAll(() => {
  buildYard();
  place = makePlace();
  installed = join(place.directory, '.bin', 'yard');
  mkdirSync(join(place.directory, '.bin'));
  symlinkSync(yardPath, installed);
});
afterAll(() => place.remove());

/** As a shell runs it: by the link that npm puts into a folder of the PATH, without anybody naming node. */
function yard(...args: readonly string[]): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const options = { cwd: place.directory, env: place.environment };
  return new Promise((resolve) => {
    execFile(installed, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : error.code, stdout, stderr });
    });
  });
}

describe('yard by the link that an installation makes', () => {
  it('starts an agent that stays, with its pieces from where they really lie [B3] [G15]', async () => {
    const up = await yard('up');
    expect([up.code, up.stderr, up.stdout]).toEqual([0, '', expect.stringMatching(/ready .* pid \d+/)]);
    expect((await yard('down')).code).toBe(0);
  });

  it('reads --env-file itself: Node takes it for its own wherever it stands', async () => {
    writeFileSync(join(place.directory, 'vars'), 'WORD=from the file\nNODE_OPTIONS=--none-of-these\n');
    const run = await yard('run', '--no-workspace', '--env-file', 'vars', '--', 'sh', '-c', 'echo "$WORD"');
    expect([run.code, run.stdout]).toEqual([0, 'from the file\n']);
    const refused = await yard('run', '--no-workspace', '--env-file', 'nowhere', '--', 'true');
    expect([refused.code, refused.stderr]).toEqual([
      125,
      `error: --env-file nowhere does not exist\n  it was looked for as ${join(place.directory, 'nowhere')}\n`,
    ]);
  });

  it('passes on the code of a job, and whatever stands behind --', async () => {
    const run = await yard('run', '--no-workspace', '--', 'sh', '-c', 'echo "$@"; exit 3', 'sh', '--env-file', 'a b');
    expect([run.code, run.stdout]).toEqual([3, '--env-file a b\n']);
  });
});
