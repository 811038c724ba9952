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
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 180_000,
    teardownTimeout: 30_000,
  },
});
