import type { Tool } from '../session/tool.ts';
import { editTool } from './files/edit-tool.ts';
import { listTool } from './files/list-tool.ts';
import { readTool } from './files/read-tool.ts';
import { ownSearch } from './files/search/own-search.ts';
import { ripgrepSearch } from './files/search/ripgrep.ts';
import { searchTool } from './files/search/search-tool.ts';
import type { SearchEngine } from './files/search/search-types.ts';
import { writeTool } from './files/write-tool.ts';
import type { ProtectedPaths } from './protected-paths.ts';
import { findOnHost } from './run/host-executables.ts';
import type { Launcher } from './run/launcher.ts';
import { processTools } from './run/process-tools.ts';
import { RUN_LIMITS, type RunLimits, runTool } from './run/run-tool.ts';
import { askTool } from './session/ask-tool.ts';
import { delegateTools } from './session/delegate-tools.ts';
import { planTool } from './session/plan-tool.ts';
import { fetchTool } from './web/fetch-tool.ts';
import type { FetchOptions } from './web/http-get.ts';

/** What the built-in tools need. */
export type ToolDeps = {
  /** The person's home folder, which `~` stands for. */
  readonly home: string;
  readonly protectedPaths: ProtectedPaths;
  readonly launcher: Launcher;
  /** The environment of the tools' own helpers (ripgrep), and where they are looked for. */
  readonly environment: NodeJS.ProcessEnv;
  readonly fetch?: FetchOptions;
  readonly run?: Partial<RunLimits>;
  /** False: never use ripgrep. */
  readonly ripgrep?: boolean;
};

/** The built-in tools. They keep no state: one set serves every session. */
export function createTools(deps: ToolDeps): readonly Tool[] {
  const { home, protectedPaths, launcher } = deps;
  return [
    readTool(home),
    writeTool(home, protectedPaths),
    editTool(home, protectedPaths),
    listTool(home),
    searchTool(home, protectedPaths, searchEngine(deps)),
    runTool(home, launcher, { ...RUN_LIMITS, ...deps.run }),
    ...processTools(home, launcher),
    fetchTool(deps.fetch ?? {}),
    planTool(),
    askTool(),
    ...delegateTools(),
  ];
}

/** ripgrep where it is installed, else our own search; looked for at the first search. */
function searchEngine(deps: ToolDeps): () => Promise<SearchEngine> {
  let found: Promise<SearchEngine> | undefined;
  return async () => {
    found ??= findEngine(deps);
    return await found;
  };
}

async function findEngine(deps: ToolDeps): Promise<SearchEngine> {
  const executable = deps.ripgrep === false ? null : await findOnHost('rg', deps.environment);
  return executable === null ? ownSearch : ripgrepSearch(executable, deps.environment);
}
