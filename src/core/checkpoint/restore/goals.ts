import type { CheckpointFiles } from '../../session/control-events.ts';
import { type Entry, same } from '../entry.ts';
import type { State, StateStore } from '../store/state-store.ts';

/** Where paths should go back to, and what the session left there. */
export type Goals = {
  readonly target: ReadonlyMap<string, Entry>;
  /** A path that is not in here was left in no known state. */
  readonly left: ReadonlyMap<string, Entry>;
  /** Paths that somebody else changed between two of the turns. */
  readonly disputed: ReadonlySet<string>;
  /** Folders that go when they are empty. */
  readonly folders: readonly string[];
  readonly coverage: 'full' | 'partial';
  readonly reason: string | null;
};

/** One turn, its states loaded. */
export type TurnStates = { readonly before: State; readonly after: State };

/** Loads what turns did. Throws `checkpoint.unknown`. */
export async function goalsOfTurns(
  turns: readonly CheckpointFiles[],
  states: StateStore,
): Promise<Goals> {
  const loaded = await statesOf(turns, states);
  const partial = turns.find((turn) => turn.coverage === 'partial');
  return {
    ...combined(loaded),
    coverage: partial === undefined ? 'full' : 'partial',
    reason: partial?.reason ?? null,
  };
}

/** What turns found and left. Throws `checkpoint.unknown`. */
export async function statesOf(
  turns: readonly CheckpointFiles[],
  states: StateStore,
): Promise<readonly TurnStates[]> {
  const loaded: TurnStates[] = [];
  for (const turn of turns)
    loaded.push({ before: await states.load(turn.before), after: await states.load(turn.after) });
  return loaded;
}

/** The union of what turns did, oldest first. */
export function combined(
  turns: readonly TurnStates[],
): Pick<Goals, 'target' | 'left' | 'disputed' | 'folders'> {
  const target = new Map<string, Entry>();
  const left = new Map<string, Entry>();
  const disputed = new Set<string>();
  const folders = new Set<string>();
  for (const { before, after } of turns) {
    for (const [file, entry] of before.entries) {
      const previous = left.get(file);
      if (!target.has(file)) target.set(file, entry);
      else if (previous !== undefined && !same(previous, entry)) disputed.add(file);
    }
    for (const [file, entry] of after.entries) left.set(file, entry);
    for (const folder of before.folders) folders.add(folder);
  }
  return { target, left, disputed, folders: [...folders] };
}

/** Back to what a restore replaced. */
export function goalsOfUndo(state: State): Goals {
  return {
    target: state.entries,
    left: state.left ?? new Map(),
    disputed: new Set(),
    folders: state.folders,
    coverage: 'full',
    reason: null,
  };
}
