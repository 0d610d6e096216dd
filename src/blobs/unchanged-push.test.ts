import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { host, openPlace } from './temporary-place.testsuite.ts';

it('pushes 10,000 unchanged files a second time without reading or sending any of them', async () => {
  const place = await openPlace({});
  const then = Date.now() / 1000 - 60;
  for (let i = 0; i < 10_000; i++) {
    const folder = join(place.workspace, `d${i % 100}`);
    if (i < 100) mkdirSync(folder);
    const path = join(folder, `f${i}`);
    writeFileSync(path, `content of file ${i}`);
    utimesSync(path, then, then);
  }
  // The change time cannot be set back, so the clock goes ahead instead.
  const later = { ...host.clock, wallMs: () => host.clock.wallMs() + 60_000 };
  const first = await place.push({ host: { ...host, clock: later } });
  expect(first).toMatchObject({ files: 10_000, sentBlobs: 10_000 });

  let reads = 0;
  const files = {
    ...host.files,
    readMany: (paths: readonly string[], options: { maxBytes: number }) => {
      reads += paths.length;
      return host.files.readMany(paths, options);
    },
  };
  const second = await place.push({ host: { ...host, clock: later, files } });
  expect(second).toMatchObject({ files: 10_000, sentBlobs: 0, sentBytes: 0, manifestHash: first.manifestHash });
  expect(reads).toBe(0);
});
