import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedLab, openEmbeddedLab } from './embedded-lab.ts';

let lab: EmbeddedLab;
beforeEach(() => {
  lab = openEmbeddedLab();
});
afterEach(() => lab.close());

describe('bulk bytes', () => {
  it('travel as blobs: neither orders, facts nor the log hold a byte of a workspace or an output [S9]', async () => {
    const client = await lab.open();
    const { jobs, nodes, embedded } = client;
    const canary = 'a canary that sings in the workspace';
    const folder = join(lab.home, 'tree');
    await embedded.host.files.makeDirectory(folder);
    writeFileSync(join(folder, 'in.txt'), canary.repeat(100));
    const heard: string[] = [];
    embedded.plane.subscribe((batch) => heard.push(JSON.stringify(batch)));
    const node = await nodes.start({ name: 'bulk', cpus: 1 });

    const run = 'tr a-z A-Z < in.txt > out.txt';
    const document = { job: { name: 'bulk', run, workspace: { workdir: '.' }, outputs: ['out.txt'] } };
    const job = await jobs.submit(document, { baseDirectory: folder });
    const { state } = await job.wait();
    const [landed] = await job.land({ to: join(lab.home, 'landed') });
    await node?.close();
    // SQLite's own locks end when a file of it is closed by anyone in its process: read it when nobody has it open.
    await client.close();

    expect(state).toBe('COMPLETED');
    expect(readFileSync(landed?.landedAt ?? '', 'utf8')).toBe(canary.toUpperCase().repeat(100));
    expect(heard.join('\n')).toContain('OutputsCollected');
    expect(heard.join('\n')).not.toMatch(/canary/i);
    const logFiles = readdirSync(lab.home).filter((name) => name.startsWith('log.db'));
    expect(logFiles).not.toEqual([]);
    for (const name of logFiles) expect(readFileSync(join(lab.home, name), 'latin1')).not.toMatch(/canary/i);
  });
});
