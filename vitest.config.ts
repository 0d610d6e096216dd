import { defineConfig } from 'vitest/config';

/** Suites of what users rely on, whoever holds the control plane: they run in both modes. */
const behaviour = [
  'agent-crash',
  'distributed',
  'environment',
  'exit-codes',
  'landing',
  'parts',
  'services',
  'services-more',
  'services-nodes',
  'stop',
  'supervised-job',
  'supervision',
  'up-again',
  'usage',
].map((name) => `test/${name}.test.ts`);

/** Each would load the whole server for itself: these share what they import. They keep no state in modules. */
const network = ['src/server/**/*.test.ts', 'src/client/remote/**/*.test.ts'];

const common = {
  // Ends what hangs, and nothing that is slow on a busy machine: what has to be quick measures itself.
  testTimeout: 120_000,
  hookTimeout: 120_000,
};

export default defineConfig({
  test: {
    // Most tests wait for processes that they started: two files at once suit even a machine of two cores.
    maxWorkers: 2,
    projects: [
      { test: { ...common, name: 'embedded', include: ['src/**/*.test.ts', 'test/**/*.test.ts'], exclude: network } },
      { test: { ...common, name: 'network', include: network, isolate: false } },
      { test: { ...common, name: 'served', include: behaviour, env: { RUNYARD_TEST_MODE: 'served' } } },
    ],
  },
});
