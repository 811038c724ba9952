import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { runningItem, type StatusBarInput, type StatusItem, waitingItem } from './status-model.ts';

const BACKGROUNDS = {
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
} as const;

/** The two items of the status bar: what runs (with Stop), and what waits for a person. */
export class StatusBar implements Disposable {
  readonly #store = new DisposableStore();
  readonly #running: vscode.StatusBarItem;
  readonly #waiting: vscode.StatusBarItem;
  readonly #input: () => StatusBarInput;

  constructor(input: () => StatusBarInput) {
    this.#input = input;
    this.#running = this.#create(
      'pilothouse.internal.status',
      51,
      l10n.t('Pilothouse: running sessions'),
    );
    this.#waiting = this.#create(
      'pilothouse.internal.waiting',
      50,
      l10n.t('Pilothouse: open questions'),
    );
    this.update();
  }

  #create(id: string, priority: number, name: string): vscode.StatusBarItem {
    const item = vscode.window.createStatusBarItem(id, vscode.StatusBarAlignment.Left, priority);
    item.name = name;
    return this.#store.add(item);
  }

  /** Shows the state as it is now. */
  update(): void {
    const input = this.#input();
    show(this.#running, runningItem(input));
    show(this.#waiting, waitingItem(input));
  }

  dispose(): void {
    this.#store.dispose();
  }
}

function show(target: vscode.StatusBarItem, item: StatusItem | null): void {
  if (!item) {
    target.hide();
    return;
  }
  target.text = item.text;
  target.tooltip = item.tooltip;
  target.command = item.command;
  target.accessibilityInformation = { label: item.label, role: 'button' };
  target.backgroundColor =
    item.background === null ? undefined : new vscode.ThemeColor(BACKGROUNDS[item.background]);
  target.show();
}
