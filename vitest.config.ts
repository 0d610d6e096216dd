import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Most tests wait for processes that they started: two files at once suit even a machine of two cores.
    maxWorkers: 2,
  },
});
