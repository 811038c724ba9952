import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { Agent } from '../core/agent.ts';
import type { SessionHub } from './session-hub.ts';
import { SessionDecorations } from './tree/decorations.ts';
import { type Redoable, SessionsTree } from './tree/sessions-tree.ts';
import { UnreadMarks } from './tree/unread.ts';

const UNREAD_KEY = 'sessions.unread';

/** The sessions view and its marks. */
export type Sessions = Disposable & { readonly tree: SessionsTree; readonly unread: UnreadMarks };

/** Builds the sessions view; it asks for sessions when it is first seen. */
export function createSessions(
  context: vscode.ExtensionContext,
  hub: SessionHub,
  agent: Agent,
  redo: Redoable,
  log: vscode.LogOutputChannel,
): Sessions {
  const store = new DisposableStore();
  const unread = store.add(
    new UnreadMarks({
      load: () => context.globalState.get<readonly string[]>(UNREAD_KEY, []),
      save: (ids) => void context.globalState.update(UNREAD_KEY, ids),
    }),
  );
  const tree = store.add(
    new SessionsTree({
      hub,
      agent,
      redo,
      unread,
      log: (message) => log.warn(message),
      canStart: () => vscode.workspace.isTrusted,
    }),
  );
  const decorations = store.add(new SessionDecorations(unread));
  store.add(vscode.window.registerFileDecorationProvider(decorations));
  return { tree, unread, dispose: () => store.dispose() };
}
