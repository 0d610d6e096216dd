import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // Ends what hangs, and nothing that is slow on a busy machine: what has to be quick measures itself.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Most tests wait for processes that they started: two files at once suit even a machine of two cores.
    maxWorkers: 2,
  },
});
