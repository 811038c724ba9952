import * as vscode from 'vscode';
import type { StatusBarInput } from '../status-bar/status-model.ts';

/** Sets the keys that menus, keybindings and welcome texts depend on; an unchanged one is not set again. */
export class ContextKeys {
  readonly #values = new Map<string, boolean>();

  update(
    input: StatusBarInput,
    state: { listed: boolean; chatSession: boolean; groupedByFolder: boolean },
  ): void {
    this.#set('pilothouse.running', input.running.length + input.stopping.length > 0);
    this.#set('pilothouse.waiting', input.openGates > 0);
    this.#set('pilothouse.offline', input.offline !== null);
    this.#set('pilothouse.listed', state.listed);
    this.#set('pilothouse.chatSession', state.chatSession);
    this.#set('pilothouse.groupedByFolder', state.groupedByFolder);
  }

  #set(key: string, value: boolean): void {
    if (this.#values.get(key) === value) return;
    this.#values.set(key, value);
    void vscode.commands.executeCommand('setContext', key, value);
  }
}
