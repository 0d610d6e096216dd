import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Lab, openLab, startTicksOf, until } from './lab.ts';

let lab: Lab;
beforeEach(() => {
  lab = openLab();
});
afterEach(() => lab.close());

describe('yard up', () => {
  it('while the agent is about to be started again leaves one supervisor, and yard down leaves none [X11]', async () => {
    await lab.yard(['up', '--name', 'one']);
    const first = pidOf('supervisor');
    process.kill(pidOf('agent'), 'SIGKILL');
    expect(await lab.yard(['up', '--name', 'one'])).toMatchObject({ code: 0 });
    const second = pidOf('supervisor');
    const other = await lab.yard(['down', '--name', 'two']);
    expect(other).toMatchObject({ code: 0, stdout: 'two  no agent runs in the background\n' });
    expect(other.stderr).toContain('one runs here: yard down --name one');
    expect(await lab.yard(['down', '--name', 'one'])).toMatchObject({ code: 0 });
    await until(() => [first, second].every((pid) => startTicksOf(pid) === null), 'the end of both');
    expect(JSON.parse((await lab.yard(['nodes', '--json'])).stdout)).toMatchObject([{ agentRunning: false }]);
  });

  it('says why an agent that is tried again is not ready, and that what runs keeps its own options', async () => {
    const never = lab.start(['up', '--name', 'one', '--gpus', '4096']);
    await never.printed(/one is not ready: --gpus is 4096, and this machine has \d+/);
    never.child.kill('SIGINT');
    await never.finished;
    expect(await lab.yard(['down', '--name', 'one'])).toMatchObject({ code: 0 });
    expect(await lab.yard(['up', '--name', 'one', '--cpus', '1'])).toMatchObject({ code: 0, stderr: '' });
    const again = await lab.yard(['up', '--name', 'one', '--cpus', '2']);
    expect([again.code, again.stdout]).toEqual([0, expect.stringMatching(/1 core .*runs already/)]);
    expect(again.stderr).toContain('keeps them: yard down --keep --name one, then yard up again');
    expect(await lab.yard(['down', '--name', 'one'])).toMatchObject({ code: 0 });
  });

  it('says that no GPU is offered where nvidia-smi is there and does not answer as it should', async () => {
    const bin = join(lab.folder, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'nvidia-smi'), '#!/bin/sh\necho "driver is not loaded" >&2; exit 9\n', { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const up = await lab.yard(['up', '--name', 'one'], { env });
    expect([up.code, up.stdout]).toEqual([0, expect.stringContaining('0 GPUs')]);
    expect(up.stderr).toContain('no GPU is offered: nvidia-smi exited with code 9: driver is not loaded\n');
    expect(await lab.yard(['down', '--name', 'one'])).toMatchObject({ code: 0 });
    const wanting = lab.start(['up', '--name', 'one', '--gpus', '1'], { env });
    await wanting.printed(/--gpus is 1, and this machine has 0/);
    wanting.child.kill('SIGINT');
    await wanting.finished;
    expect(readFileSync(join(lab.home, 'nodes/one/agent.log'), 'utf8')).toContain('code 9: driver is not loaded');
    expect(await lab.yard(['down', '--name', 'one'])).toMatchObject({ code: 0 });
  });
});

function pidOf(record: 'agent' | 'supervisor'): number {
  const { pid } = JSON.parse(readFileSync(join(lab.home, `nodes/one/${record}.json`), 'utf8')) as { pid: number };
  return pid;
}
