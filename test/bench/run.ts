import { benchAttach } from './figures/attach.ts';
import { benchCalls } from './figures/calls.ts';
import { benchChunks } from './figures/chunks.ts';
import { benchDoor } from './figures/door.ts';
import { benchGrowth } from './figures/growth.ts';
import { benchMany } from './figures/many.ts';
import { benchMemory } from './figures/memory.ts';
import { benchRestore } from './figures/restore.ts';
import { benchSearch } from './figures/search.ts';
import { benchSessionList, benchSessionLoad } from './figures/sessions.ts';
import { benchStart } from './figures/start.ts';
import { benchStop } from './figures/stop.ts';
import { benchStore } from './figures/store.ts';
import { benchSubmits } from './figures/submits.ts';
import { inFolder } from './measure.ts';
import { type Programs, preparePrograms } from './programs.ts';
import { type Figure, isMet, table } from './report.ts';

const PARTS: Readonly<Record<string, (programs: Programs) => Promise<readonly Figure[]>>> = {
  start: benchStart,
  calls: benchCalls,
  stop: benchStop,
  chunks: benchChunks,
  memory: benchMemory,
  list: benchSessionList,
  load: benchSessionLoad,
  appends: benchStore,
  submits: benchSubmits,
  restore: benchRestore,
  search: benchSearch,
  growth: benchGrowth,
  door: benchDoor,
  attach: benchAttach,
  many: benchMany,
};

/** The names of what can be measured. */
export const PART_NAMES: readonly string[] = Object.keys(PARTS);

/** Measures the named parts of a built agent-core and prints the table; resolves with how many aims were missed. */
export async function runBench(agent: string, names: readonly string[]): Promise<number> {
  return await inFolder(async (folder) => {
    const programs = await preparePrograms(agent, folder);
    const figures: Figure[] = [];
    for (const name of names) {
      const measure = PARTS[name];
      if (measure === undefined)
        throw new Error(`Unknown part ${name}. Use: ${PART_NAMES.join(', ')}`);
      console.log(`[bench] ${name}`);
      figures.push(...(await measure(programs)));
    }
    console.log(`\n${table(figures)}`);
    return figures.filter((figure) => isMet(figure) === false).length;
  });
}
