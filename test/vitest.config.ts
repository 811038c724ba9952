import { defineConfig } from 'vitest/config';

const preactJsx = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const;

/** Suites that start processes: one at a time, because two cores are all there may be. */
const withProcesses = {
  pool: 'forks',
  fileParallelism: false,
  testTimeout: 60_000,
  hookTimeout: 60_000,
} as const;

export default defineConfig({
  oxc: preactJsx,
  test: {
    root: new URL('..', import.meta.url).pathname,
    globalSetup: ['test/run/generate.mjs'],
    projects: [
      {
        extends: true,
        test: { name: 'unit', include: ['test/unit/**/*.test.{ts,tsx}'], testTimeout: 10_000 },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          ...withProcesses,
          // Most of their time they wait for a process.
          fileParallelism: true,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'ui',
          include: ['test/ui/**/*.test.{ts,tsx}'],
          ...withProcesses,
          fileParallelism: true,
          maxWorkers: 2,
        },
      },
      {
        extends: true,
        test: {
          name: 'soak',
          include: ['test/soak/**/*.test.ts'],
          ...withProcesses,
          testTimeout: 600_000,
        },
      },
    ],
  },
});
