import type * as vscode from 'vscode';
import type { RowStore } from '../sessions/session-lists.ts';

const PREFIX = 'hosts.rows:';

/** Keeps in the editor's state what was last known of added hosts' lists. */
export function rowStore(state: vscode.Memento): RowStore {
  return {
    load: (id) => {
      const rows: unknown = state.get(PREFIX + id);
      return isList(rows) ? rows : [];
    },
    save: (id, rows) => void state.update(PREFIX + id, rows.length === 0 ? undefined : rows),
  };
}

/** What came out of the editor's state as an array holds anything. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}
