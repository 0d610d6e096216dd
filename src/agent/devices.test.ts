import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeProcesses, type NodeProcesses } from '../host/node/processes.ts';
import { deviceEnvironment, findDevices, parseGpus } from './devices.ts';

describe('finding devices', () => {
  let directory: string;
  let processes: NodeProcesses;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'runyard-devices-'));
    processes = createNodeProcesses({ directory });
  });
  afterAll(() => {
    processes.close();
    rmSync(directory, { recursive: true });
  });
  const standIn = (text: string): void => {
    writeFileSync(join(directory, 'nvidia-smi'), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };
  const find = () => findDevices(processes, `${directory}:/usr/bin:/bin`);

  it('finds none, and no problem, without nvidia-smi', async () => {
    rmSync(join(directory, 'nvidia-smi'), { force: true });
    expect(await find()).toEqual({ gpus: [], problem: null });
  });

  it('finds each GPU by its UUID', async () => {
    standIn(
      'case "$1" in --query-gpu=index,uuid,name,memory.total) ;; *) exit 9 ;; esac\ncat <<X\n0, GPU-a, NVIDIA H100 80GB HBM3, 81559\n1, GPU-b, NVIDIA H100 80GB HBM3, 81559\nX',
    );
    expect(await find()).toEqual({
      gpus: [
        { index: 0, uuid: 'GPU-a', model: 'NVIDIA H100 80GB HBM3', memoryMiB: 81_559 },
        { index: 1, uuid: 'GPU-b', model: 'NVIDIA H100 80GB HBM3', memoryMiB: 81_559 },
      ],
      problem: null,
    });
  });

  it('finds none and says why when the driver does not answer well', async () => {
    standIn('echo "NVIDIA-SMI has failed because it could not communicate with the driver"; exit 9');
    expect(await find()).toEqual({ gpus: [], problem: expect.stringContaining('exited with code 9: NVIDIA-SMI has') });
    expect(parseGpus('0, GPU-a, Tesla, lost\n').problem).toContain('expected index, uuid, name and memory in MiB');
    expect(parseGpus('0, GPU-a, [N/A]\n').problem).toContain('expected index, uuid, name and memory in MiB');
  });

  it('counts a GPU that does not tell its memory, and does not hide the others for it', () => {
    const printed = [
      '0, GPU-5a1e7c0d-8f0b-2f3e-a3bc-2a3a1d0c9e10, NVIDIA GB10, [N/A]',
      '1, GPU-8e7c1b52-4d9c-11f4-9b36-fb44a5d7c2aa, NVIDIA H100 80GB HBM3, 81559',
      '2, GPU-0fb86a1e-63a2-b7c8-5d54-6f0b6b1f8a77, Tesla K20m, [Not Supported]',
    ];
    const { gpus, problem } = parseGpus(`${printed.join('\n')}\n`);
    expect(problem).toBeNull();
    expect(gpus.map(({ index, model, memoryMiB }) => [index, model, memoryMiB])).toEqual([
      [0, 'NVIDIA GB10', 0],
      [1, 'NVIDIA H100 80GB HBM3', 81_559],
      [2, 'Tesla K20m', 0],
    ]);
  });
});

it('shows a task the devices that it holds by UUID, and none when it holds none', () => {
  expect(deviceEnvironment(['GPU-a', 'GPU-b']).CUDA_VISIBLE_DEVICES).toBe('GPU-a,GPU-b');
  expect(deviceEnvironment([])).toEqual({ CUDA_VISIBLE_DEVICES: '', NVIDIA_VISIBLE_DEVICES: 'void' });
});
