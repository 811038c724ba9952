import type * as vscode from 'vscode';
import type { RowStore } from '../sessions/session-lists.ts';

const PREFIX = 'hosts.rows:';

/** Keeps in the editor's state what was last known of added hosts' lists. */
export function rowStore(state: vscode.Memento): RowStore {
  return {
    load: (id) => {
      const rows = state.get<unknown>(PREFIX + id);
      return Array.isArray(rows) ? rows : [];
    },
    save: (id, rows) => void state.update(PREFIX + id, rows.length === 0 ? undefined : rows),
  };
}
