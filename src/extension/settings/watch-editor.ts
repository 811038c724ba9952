import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { Services } from '../commands/services.ts';
import type { Surfaces } from '../status-bar/create-surfaces.ts';
import { configureModels } from './model-sources.ts';
import { affects } from './settings.ts';

/** Follows what changes in the editor: settings, trust, folders. */
export function watchEditor(services: Services, surfaces: Surfaces): Disposable {
  const { hosts, bridge, tree, log } = services;
  const store = new DisposableStore();
  const refresh = (): void => {
    surfaces.update();
    tree.refreshSoon();
    bridge.updateStatus();
  };
  store.add(
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!affects(event, '')) return;
      if (affects(event, 'models'))
        void hosts.everyLocal(async (connection) =>
          configureModels(connection, (message) => log.warn(message)),
        );
      if (affects(event, 'onWindowClose')) void services.hub.onDetachChanged();
      refresh();
    }),
  );
  store.add(
    vscode.workspace.onDidGrantWorkspaceTrust(() => {
      refresh();
      void bridge.reopen();
    }),
  );
  store.add(vscode.workspace.onDidChangeWorkspaceFolders(refresh));
  return store;
}
