import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { versionOf } from '../core/create-agent.ts';
import { StoredDelegates } from '../delegates/stored-delegates.ts';
import type { Hosts } from '../hosts/hosts.ts';
import { tellRoles } from './clients/role-news.ts';
import { Followed } from './followed.ts';
import type { SessionHub } from './session-hub.ts';
import { SessionDecorations } from './tree/decorations.ts';
import { Folds } from './tree/folds.ts';
import { type Redoable, SessionsTree } from './tree/sessions-tree.ts';
import { UnreadMarks } from './tree/unread.ts';

const UNREAD_KEY = 'sessions.unread';
const FOLDED_KEY = 'sessions.folded';
const FOLLOWED_KEY = 'sessions.followed';

/** The sessions view and its marks. */
export type Sessions = Disposable & { readonly tree: SessionsTree; readonly unread: UnreadMarks };

/** Builds the sessions view; it asks for sessions when it is first seen. */
export function createSessions(
  context: vscode.ExtensionContext,
  hub: SessionHub,
  hosts: Hosts,
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
  const folds = new Folds({
    load: () => context.workspaceState.get<readonly string[]>(FOLDED_KEY, []),
    save: (keys) => void context.workspaceState.update(FOLDED_KEY, keys),
  });
  const say = (message: string): void => log.warn(message);
  const delegates = store.add(new StoredDelegates({ hub, hosts, log: say }));
  const tree = store.add(
    new SessionsTree({
      hub,
      hosts,
      version: versionOf(context),
      redo,
      unread,
      delegates,
      folds,
      log: say,
      canStart: () => vscode.workspace.isTrusted,
    }),
  );
  store.add(
    new Followed({
      hub,
      load: () => context.workspaceState.get<readonly string[]>(FOLLOWED_KEY, []),
      save: (ids) => void context.workspaceState.update(FOLLOWED_KEY, ids),
      log: say,
    }),
  );
  store.add(tellRoles(hub, say));
  const decorations = store.add(new SessionDecorations(unread, hosts));
  store.add(vscode.window.registerFileDecorationProvider(decorations));
  return { tree, unread, dispose: () => store.dispose() };
}
