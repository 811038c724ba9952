import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import {
  hasSettled,
  runningItem,
  type StatusBarInput,
  type StatusItem,
  waitingItem,
} from './status-model.ts';

const BACKGROUNDS = {
  warning: 'statusBarItem.warningBackground',
  error: 'statusBarItem.errorBackground',
} as const;

/** How long “Stopped” stays, in milliseconds. */
const STOPPED_MS = 2_000;

/** The two items of the status bar: what runs (with Stop), and what waits for a person. */
export class StatusBar implements Disposable {
  readonly #store = new DisposableStore();
  readonly #running: vscode.StatusBarItem;
  readonly #waiting: vscode.StatusBarItem;
  readonly #input: () => StatusBarInput;
  #last: StatusBarInput | null = null;
  #stopped: ReturnType<typeof setTimeout> | null = null;

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
    if (this.#last !== null && hasSettled(this.#last, input)) this.#keepPlace();
    this.#last = input;
    show(this.#running, runningItem(input, this.#stopped !== null));
    show(this.#waiting, waitingItem(input));
  }

  #keepPlace(): void {
    if (this.#stopped !== null) clearTimeout(this.#stopped);
    this.#stopped = setTimeout(() => {
      this.#stopped = null;
      this.update();
    }, STOPPED_MS);
  }

  dispose(): void {
    if (this.#stopped !== null) clearTimeout(this.#stopped);
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
  target.command = item.command ?? undefined;
  target.accessibilityInformation =
    item.command === null ? { label: item.label } : { label: item.label, role: 'button' };
  target.backgroundColor =
    item.background === null ? undefined : new vscode.ThemeColor(BACKGROUNDS[item.background]);
  target.show();
}
