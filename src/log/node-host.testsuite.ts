import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Host } from '../host/host.ts';
import { createNodeHost } from '../host/node/node-host.ts';
import { createNodeProcesses } from '../host/node/processes.ts';

/** A directory of its own and the real host, for tests that need both. */
export function createTemporaryHost(): { directory: string; host: Host; remove: () => void } {
  const directory = mkdtempSync(join(tmpdir(), 'runyard-log-'));
  const processes = createNodeProcesses({ directory, launcher: 'sh' });
  return {
    directory,
    host: createNodeHost(processes),
    remove: () => {
      processes.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
