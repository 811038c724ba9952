import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ENTRY = fileURLToPath(new URL('../../../../src/core/mcp/create-mcp.ts', import.meta.url));

describe('the MCP library', () => {
  it('is loaded by a dynamic import only, so that a start without servers does not pay for it', async () => {
    const { metafile } = await build({
      entryPoints: [ENTRY],
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      outdir: 'never-written',
      write: false,
      metafile: true,
    });
    const holders = Object.entries(metafile.outputs).filter(([, { inputs }]) =>
      Object.keys(inputs).some((input) => input.includes('@modelcontextprotocol')),
    );
    const start = Object.entries(metafile.outputs).find(([, { entryPoint }]) =>
      entryPoint?.endsWith('create-mcp.ts'),
    );
    const eager = start?.[1].imports.filter(({ kind }) => kind === 'import-statement') ?? [];
    expect(holders.length).toBeGreaterThan(0);
    const loadedAtStart = [start?.[0], ...eager.map(({ path }) => path)];
    for (const [path] of holders) expect(loadedAtStart).not.toContain(path);
  });
});
