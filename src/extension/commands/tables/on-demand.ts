import type { CommandTable } from '../services.ts';

/** Commands whose bodies are loaded when one of them is first used; `load` has to bring all of `ids`. */
export function onDemand(ids: readonly string[], load: () => Promise<CommandTable>): CommandTable {
  let loaded: Promise<CommandTable> | null = null;
  return Object.fromEntries(
    ids.map((id) => [
      id,
      async (argument?: unknown, others?: unknown): Promise<unknown> => {
        loaded ??= load();
        return (await loaded)[id]?.(argument, others);
      },
    ]),
  );
}
