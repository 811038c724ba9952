import path from 'node:path';
import type { Log } from '../session/ports.ts';
import type { ShadowStore } from './git/shadow-store.ts';
import type { CallBefore } from './store/call-log.ts';
import type { TurnBeginning } from './store/turn-note.ts';
import { TurnRecord } from './turn-record.ts';

/** What of a turn is noted at its first effect. */
export function rememberedAs(turn: TurnRecord): TurnBeginning {
  return {
    turnId: turn.turnId,
    roots: new Map([...turn.befores].map(([shadow, snapshot]) => [shadow.root, snapshot])),
    first: new Set(turn.preImages.keys()),
    reasons: [...turn.reasons],
    lacks: turn.lacks,
  };
}

/** A turn as its note and the pre-images of its calls know it; a root that is no part of the session any more is left out. */
export function recalled(
  beginning: TurnBeginning,
  calls: readonly CallBefore[],
  shadows: readonly ShadowStore[],
  log: Log,
): TurnRecord {
  const { turnId, roots, first, reasons, lacks } = beginning;
  const turn = new TurnRecord(turnId, log);
  turn.lacks = lacks;
  for (const reason of reasons) turn.reasons.add(reason);
  for (const shadow of shadows) {
    const snapshot = roots.get(shadow.root) ?? null;
    turn.befores.set(shadow, snapshot);
    if (!roots.has(shadow.root)) turn.miss('A folder of the session is new since');
  }
  for (const { entries, folders } of calls)
    for (const [file, entry] of entries)
      turn.take(file, entry, foldersOf(file, folders), first.has(file));
  return turn;
}

function foldersOf(file: string, folders: readonly string[]): readonly string[] {
  return folders.filter((folder) => file.startsWith(folder + path.sep));
}
