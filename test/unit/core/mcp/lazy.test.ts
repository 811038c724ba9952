import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

const ENTRY = fileURLToPath(new URL('../../../../src/core/mcp/create-mcp.ts', import.meta.url));

describe('the MCP room', () => {
  it('is loaded with its libraries by a dynamic import only, so that no start pays for it', async () => {
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
    const isLate = (input: string): boolean =>
      /@modelcontextprotocol|cross-spawn|zod|mcp-tools\.ts/.test(input) &&
      !input.endsWith('late-mcp-tools.ts');
    const holders = Object.entries(metafile.outputs).filter(([, { inputs }]) =>
      Object.keys(inputs).some(isLate),
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
