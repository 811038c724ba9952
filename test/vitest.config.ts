import { defineConfig } from 'vitest/config';

const preactJsx = { jsx: { runtime: 'automatic', importSource: 'preact' } } as const;

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    projects: [
      {
        oxc: preactJsx,
        test: { name: 'unit', include: ['test/unit/**/*.test.{ts,tsx}'], testTimeout: 10_000 },
      },
      {
        oxc: preactJsx,
        test: {
          name: 'integration',
          include: ['test/integration/**/*.test.ts'],
          pool: 'forks',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
});
