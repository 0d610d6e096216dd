import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Host } from '../../host/host.ts';
import { createNodeHost } from '../../host/node/node-host.ts';
import { createNodeProcesses, type NodeProcesses } from '../../host/node/processes.ts';
import { openSecretFiles } from './secret-files.ts';

let directory: string;
let processes: NodeProcesses;
let host: Host;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'runyard-files-'));
  processes = createNodeProcesses({ directory, launcher: 'sh' });
  host = createNodeHost(processes);
});
afterEach(() => {
  processes.close();
  rmSync(directory, { recursive: true });
});

const value = new TextEncoder().encode('canary-6604');

describe('secrets as files', () => {
  it('are their owner’s alone, outside the node’s own folder where there is memory for them, and go without a trace', async () => {
    const files = await openSecretFiles(host, directory);
    const path = await files.write('a.0.0.1', 'hf', value);
    expect(readFileSync(path, 'utf8')).toBe('canary-6604');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(statSync(dirname(dirname(path))).mode & 0o777).toBe(0o700);
    expect(path.startsWith(directory)).toBe(!existsSync('/dev/shm'));
    expect(await files.write('a.0.0.1', 'hf', new Uint8Array([1]))).toBe(path);
    await files.remove('a.0.0.1');
    await files.remove('a.0.0.1');
    expect(existsSync(dirname(dirname(path)))).toBe(false);
  });

  it('are found by the next agent, which removes those of attempts that are gone', async () => {
    const before = await openSecretFiles(host, directory);
    const [kept, gone] = [await before.write('a.0.0.1', 'hf', value), await before.write('b.0.0.1', 'hf', value)];
    const after = await openSecretFiles(host, directory);
    await after.keepOnly(['a.0.0.1']);
    expect([existsSync(kept), existsSync(gone)]).toEqual([true, false]);
    await after.remove('a.0.0.1');
    expect(existsSync(kept)).toBe(false);
  });

  it('go although a loss of power took away the word where they are', async () => {
    const orphan = join(directory, 'secret-files-0123456789abcdef');
    mkdirSync(join(orphan, 'a.0.0.1'), { recursive: true });
    writeFileSync(join(orphan, 'a.0.0.1', 'hf'), value);
    const files = await openSecretFiles(host, directory);
    const path = await files.write('b.0.0.1', 'hf', value);
    await files.keepOnly(['b.0.0.1']);
    expect([existsSync(orphan), existsSync(path)]).toEqual([false, true]);
    await files.remove('b.0.0.1');
  });

  it('are written at the same time as others go', async () => {
    const files = await openSecretFiles(host, directory);
    const names = Array.from({ length: 10 }, (_, index) => `a.${index}.0.1`);
    const paths = await Promise.all(
      names.map(async (name) => {
        await files.write(name, 'gone', value);
        const [path] = await Promise.all([files.write(name, 'hf', value), files.remove(`x${name}`)]);
        return path;
      }),
    );
    expect(paths.every((path) => existsSync(path))).toBe(true);
    await Promise.all(names.map((name) => files.remove(name)));
    expect(existsSync(dirname(dirname(paths[0] ?? '')))).toBe(false);
  });

  it('never go into a folder of an older boot, whose name may be anybody’s by now [R4.26]', async () => {
    const squatted = join(directory, 'squatted');
    mkdirSync(squatted, { mode: 0o777 });
    writeFileSync(
      join(directory, 'secret-files'),
      JSON.stringify({ bootId: 'older', directory: `${tmpdir()}/squatted` }),
    );
    const files = await openSecretFiles(host, directory);
    const path = await files.write('a.0.0.1', 'hf', value);
    expect(path).not.toContain('squatted');
    await files.keepOnly([]);
    expect(existsSync(path)).toBe(false);
  });
});
