import { defineConfig } from 'vitest/config';

/** Host tests: each file has a VS Code of its own, one file at a time. */
export default defineConfig({
  test: {
    name: 'host',
    root: new URL('../..', import.meta.url).pathname,
    globalSetup: ['test/run/generate.mjs'],
    include: ['test/host/**/*.test.ts', 'test/vscode/**/*.test.ts'],
    // These run inside the extension host, by another runner.
    exclude: ['test/host/in-host/**'],
    pool: 'forks',
    // A shared machine can hold a real window up past a click's deadline; failing twice is a fault.
    retry: process.env['CI'] === undefined ? 0 : 1,
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
  },
});
