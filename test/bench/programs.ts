import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Program } from './peers/peer.ts';

/** The programs that are measured and compared. */
export type Programs = {
  /** agent-core on a data folder, with the model that answers at once. */
  readonly ours: (home: string) => Program;
  readonly nothing: Program;
  /** The SDK's agent as a script that imports the SDK, and bundled into one minified file. */
  readonly idle: Program;
  readonly idleBundled: Program;
  readonly lines: (count: number, line: string, perWrite: number) => Program;
};

const IDLE = fileURLToPath(new URL('./peers/idle-agent.mjs', import.meta.url));
const LINES = fileURLToPath(new URL('./peers/line-writer.mjs', import.meta.url));

/** Bundles what has to be bundled into `folder`. `agent` is the built agent-core. */
export async function preparePrograms(agent: string, folder: string): Promise<Programs> {
  const bundled = `${folder}/idle-agent.mjs`;
  await build({
    entryPoints: [IDLE],
    outfile: bundled,
    bundle: true,
    minify: true,
    platform: 'node',
    target: 'node22',
    format: 'esm',
    logLevel: 'warning',
  });
  return {
    ours: (home) => ({
      args: [agent],
      env: { PILOTHOUSE_HOME: home, PILOTHOUSE_MODEL: 'rehearsal/instant', PILOTHOUSE_BENCH: '1' },
    }),
    nothing: { args: ['-e', '0'] },
    idle: { args: [IDLE] },
    idleBundled: { args: [bundled] },
    lines: (count, line, perWrite) => ({ args: [LINES, String(count), line, String(perWrite)] }),
  };
}
