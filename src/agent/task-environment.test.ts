import { expect, it } from 'vitest';
import { buildTaskEnvironment, type TaskEnvironment } from './task-environment.ts';

const task: TaskEnvironment = {
  agent: { PATH: '/opt/bin:/bin', HOME: '/home/ada', LANG: 'C.UTF-8', LC_TIME: 'de_DE', EDITOR: 'vi', TZ: undefined },
  job: 'digits-k3f9q2',
  attempt: 2,
  workdir: '/w',
  mark: 'mark-1',
  lastingFolder: null,
  array: null,
  ranks: null,
  port: null,
  devices: { CUDA_VISIBLE_DEVICES: '' },
  spec: {},
};

it('takes from the agent what describes the machine, and nothing else', () => {
  expect(buildTaskEnvironment(task)).toEqual({
    PATH: '/opt/bin:/bin',
    HOME: '/home/ada',
    LANG: 'C.UTF-8',
    LC_TIME: 'de_DE',
    CUDA_VISIBLE_DEVICES: '',
    RUNYARD_JOB: 'digits-k3f9q2',
    RUNYARD_ATTEMPT: '2',
    RUNYARD_WORKDIR: '/w',
    RUNYARD_MARK: 'mark-1',
  });
});

it('keeps the agent’s preloads and interpreter options away from a task, which may set its own [R4.8]', () => {
  const leaks = { LD_PRELOAD: 'x.so', LD_LIBRARY_PATH: '/l', NODE_OPTIONS: '--x', PYTHONSTARTUP: 'p.py' };
  const clean = buildTaskEnvironment({ ...task, agent: { ...task.agent, ...leaks } });
  for (const name of Object.keys(leaks)) expect(clean).not.toHaveProperty(name);
  expect(buildTaskEnvironment({ ...task, spec: leaks })).toMatchObject(leaks);
});

it('lets the spec win, but not over the mark by which processes are found', () => {
  const env = buildTaskEnvironment({
    ...task,
    spec: { PATH: '/mine', RUNYARD_MARK: 'other', CUDA_VISIBLE_DEVICES: '3' },
  });
  expect(env).toMatchObject({ PATH: '/mine', RUNYARD_MARK: 'mark-1', CUDA_VISIBLE_DEVICES: '3' });
});

it('tells a task its place in an array, among ranks, its port and its lasting folder [G2] [G6]', () => {
  const env = buildTaskEnvironment({
    ...task,
    lastingFolder: '/env',
    port: 20_001,
    array: { index: 3, count: 100 },
    ranks: { rank: 1, worldSize: 4, masterAddress: '10.0.0.1', masterPort: 29_500 },
  });
  expect(env).toMatchObject({
    RUNYARD_ENV: '/env',
    PORT: '20001',
    RUNYARD_INDEX: '3',
    RUNYARD_ARRAY_INDEX: '3',
    RUNYARD_COUNT: '100',
    RANK: '1',
    WORLD_SIZE: '4',
    LOCAL_RANK: '0',
    NODE_RANK: '1',
    MASTER_ADDR: '10.0.0.1',
    MASTER_PORT: '29500',
  });
});

it('gives a PATH even when the agent has none', () => {
  expect(buildTaskEnvironment({ ...task, agent: {} }).PATH).toContain('/usr/bin');
});
