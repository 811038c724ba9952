import * as vscode from 'vscode';
import type { DelegateList } from '../delegates/delegate-list.ts';
import type { SessionClients } from '../sessions/clients/session-clients.ts';
import type { SessionView } from '../sessions/session-view.ts';
import type { StatusBarInput } from '../status-bar/status-model.ts';

/** Sets the keys that menus, keybindings and welcome texts depend on; an unchanged one is not set again. */
export class ContextKeys {
  readonly #values = new Map<string, boolean>();

  update(
    input: StatusBarInput,
    state: {
      readonly listed: boolean;
      readonly chatSession: boolean;
      /** Those of the session in the chat. */
      readonly delegates: Pick<DelegateList, 'isEmpty' | 'active'> | null;
      /** Those of the session in the chat. */
      readonly clients: Pick<SessionClients, 'role' | 'others'> | null;
      readonly groupedByFolder: boolean;
      /** There are hosts that a person added. */
      readonly hosts: boolean;
      readonly views: readonly Pick<SessionView, 'state'>[];
    },
  ): void {
    this.#set('pilothouse.running', input.running.length + input.stopping.length > 0);
    this.#set('pilothouse.waiting', input.openGates > 0);
    this.#set('pilothouse.offline', input.offline !== null);
    this.#set('pilothouse.listed', state.listed);
    this.#set('pilothouse.chatSession', state.chatSession);
    this.#set('pilothouse.delegates', state.delegates?.isEmpty === false);
    this.#set('pilothouse.talksToDelegate', (state.delegates?.active ?? null) !== null);
    this.#set('pilothouse.reading', state.clients?.role === 'observer');
    this.#set('pilothouse.shared', (state.clients?.others ?? []).length > 0);
    this.#set('pilothouse.hosts', state.hosts);
    this.#set('pilothouse.groupedByFolder', state.groupedByFolder);
    this.#set('pilothouse.hasSessions', state.views.length > 0);
    this.#set(
      'pilothouse.interrupted',
      state.views.some((view) => view.state === 'interrupted'),
    );
    this.#set(
      'pilothouse.faulted',
      state.views.some((view) => view.state === 'faulted'),
    );
  }

  #set(key: string, value: boolean): void {
    if (this.#values.get(key) === value) return;
    this.#values.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}
