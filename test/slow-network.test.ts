import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LabHost, type NetworkLab, openNetworkLab, whyNoNetworkLab } from './network-lab.ts';

const whyNot = whyNoNetworkLab();

/** A quarter of a second each way: the other side of the world, and a bad line there. */
const delayMs = 250;
const port = 7443;

describe.skipIf(whyNot !== null)(
  `a node and a person far away${whyNot === null ? '' : ` (skipped: ${whyNot})`}`,
  () => {
    let lab: NetworkLab;
    let node: LabHost;
    let laptop: LabHost;
    let env: Record<string, string>;

    beforeAll(async () => {
      lab = openNetworkLab();
      const host = lab.addHost('server');
      node = lab.addHost('far');
      laptop = lab.addHost('laptop');
      const server = host.start(['server', 'start', '--listen', `${host.address}:${port}`, '--lease', '3s']);
      await server.printed(/^https:/m);
      const fingerprint = server.stdout().trim().split(/\s+/)[1] ?? '';
      const token = readFileSync(join(host.home, 'server/admin.token'), 'utf8').trim();
      env = {
        RUNYARD_SERVER: `https://${await laptop.slowWayTo(host, port, delayMs)}`,
        RUNYARD_TOKEN: `${token}@${fingerprint}`,
      };
      const made = await laptop.yard(['tokens', 'create', '--join', '--quiet'], { env });
      const file = join(node.folder, 'join.token');
      writeFileSync(file, `${made.stdout.trim()}@${fingerprint}\n`, { mode: 0o600 });
      const url = `https://${await node.slowWayTo(host, port, delayMs)}`;
      const up = await node.yard(['up', '--name', 'far', '--server', url, '--token-file', file]);
      expect(up).toMatchObject({ code: 0 });
    });

    afterAll(() => lab.close());

    it('run a job as ever, with its whole log and its outputs, and the node is never missed [B3] [X12]', async () => {
      writeFileSync(join(laptop.folder, 'data.txt'), 'x'.repeat(300_000));
      const command = [
        'sh',
        '-c',
        'cat data.txt | wc -c | tee out.txt; for i in 1 2 3 4 5; do echo line $i; sleep 1; done; exit 4',
      ];
      const ran = await laptop.yard(['run', '--output', 'out.txt', '--', ...command], { env });
      expect(ran).toMatchObject({ code: 4, stdout: '300000\nline 1\nline 2\nline 3\nline 4\nline 5\n' });
      const id = /(sh-\w{6})/.exec(ran.stderr)?.[1] ?? '';
      expect(readFileSync(join(laptop.folder, 'outputs', id, 'out.txt'), 'utf8')).toBe('300000\n');
      const { stdout } = await laptop.yard(['events', '--json'], { env });
      expect(stdout).toContain('"NodeJoined"');
      expect(stdout).not.toContain('"NodeSuspected"');
    });
  },
);
