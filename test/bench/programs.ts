import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Program } from './peers/peer.ts';

/** The programs that are measured and compared. */
export type Programs = {
  /** agent-core with a host of its own in the same process, and the model that answers at once. */
  readonly ours: (home: string) => Program;
  /** agent-core as a door to the host of the data folder; whoever uses it ends that host (`endHost`). */
  readonly door: (home: string) => Program;
  /** Ends the host of a data folder, if there is one. */
  readonly hostStop: (home: string) => Program;
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
  const on = (home: string, ...args: readonly string[]): Program => ({
    args: [agent, ...args],
    env: { PILOTHOUSE_HOME: home, PILOTHOUSE_MODEL: 'rehearsal/instant', PILOTHOUSE_BENCH: '1' },
  });
  return {
    ours: (home) => on(home, '--in-process'),
    door: (home) => on(home),
    hostStop: (home) => on(home, 'host', '--stop'),
    nothing: { args: ['-e', '0'] },
    idle: { args: [IDLE] },
    idleBundled: { args: [bundled] },
    lines: (count, line, perWrite) => ({ args: [LINES, String(count), line, String(perWrite)] }),
  };
}
