import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { UsageError } from '../usage-error.ts';
import { processesOf, readRecord, recordPath, removeRecord, writeRecord } from './daemon-record.ts';
import { readNodeOptions, writeNodeOptions } from './node-options.ts';
import { spawnDaemon, tailOf } from './spawn-daemon.ts';
import { writeUnit } from './unit.ts';

const home = mkdtempSync(join(tmpdir(), 'yard-daemon-'));
mkdirSync(join(home, 'nodes/laptop'), { recursive: true });
afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('the record of an agent', () => {
  it('names a process by more than its pid: one that took the pid is not it [B3] [I17]', async () => {
    const processes = processesOf(home);
    await writeRecord(home, 'laptop');
    const found = await readRecord(home, 'laptop', processes);
    expect(found?.pid).toBe(process.pid);
    const path = recordPath(home, 'laptop');
    writeFileSync(path, JSON.stringify({ ...found, startTicks: (found?.startTicks ?? 0) - 1 }));
    expect(await readRecord(home, 'laptop', processes)).toBeNull();
    writeFileSync(path, JSON.stringify({ ...found, bootId: 'another boot' }));
    expect(await readRecord(home, 'laptop', processes)).toBeNull();
    writeFileSync(path, '{"pid":');
    expect(await readRecord(home, 'laptop', processes)).toBeNull();
    await removeRecord(home, 'laptop');
    expect(await readRecord(home, 'laptop', processes)).toBeNull();
    processes.close();
  });
});

describe('a daemon', () => {
  it('writes into a log of its own, of which one earlier one is kept [R4.42]', async () => {
    const log = join(home, 'nodes/laptop/agent.log');
    writeFileSync(log, 'x'.repeat(1024 * 1024 + 1));
    const daemon = spawnDaemon(['/bin/sh', '-c', 'echo said; exit 3'], log, process.env);
    expect(await daemon.ended).toEqual({ code: 3, signal: null });
    expect(tailOf(log)).toBe('said');
    expect(statSync(`${log}.1`).size).toBe(1024 * 1024 + 1);
    expect(statSync(log).mode & 0o777).toBe(0o600);
  });
});

describe('the options of a node', () => {
  const options = { name: 'small', cpus: '2', memory: '8GiB', gpus: '0', labels: ['zone=a', 'rack=1,row=2'] };

  it('are read, and written again for the daemon', () => {
    expect(readNodeOptions(options)).toEqual({
      name: 'small',
      cpus: 2,
      memoryMiB: 8192,
      gpus: 0,
      labels: { zone: 'a', rack: '1', row: '2' },
    });
    expect(writeNodeOptions(options, '/').join(' ')).toBe(
      '--name small --cpus 2 --memory 8GiB --gpus 0 --labels zone=a --labels rack=1,row=2',
    );
  });

  it.each([
    { cpus: '-1' },
    { gpus: '1.5' },
    { memory: 'much' },
    { labels: ['zone'] },
    { labels: ['a=b\n'] },
    { labels: [`a=${'x'.repeat(200)}`] },
    { advertise: 'x'.repeat(201) },
  ])('refuse %j [R4.9]', (wrong) => {
    expect(() => readNodeOptions(wrong)).toThrow(UsageError);
  });
});

describe('the systemd unit', () => {
  it('ends the agent alone and leaves its jobs [B3] [I16]', () => {
    const unit = writeUnit({
      node: 'laptop',
      command: ['/usr/bin/node', '/opt/a b/yard.js', 'node', 'start'],
      user: false,
    });
    expect(unit).toContain('KillMode=process\n');
    expect(unit).toContain('Delegate=yes\n');
    expect(unit).toContain('ExecStart=/usr/bin/node "/opt/a b/yard.js" node start\n');
    expect(unit).toContain('WantedBy=multi-user.target');
    expect(writeUnit({ node: 'x', command: ['a'], user: true })).toContain('WantedBy=default.target');
  });
});
