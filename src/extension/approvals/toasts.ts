import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import type { Event } from '../../base/emitter.ts';
import { settings } from '../settings/settings.ts';
import { allowOption, type Gate, gateTitle, rejectOption } from './gate.ts';
import type { GateStore } from './gate-store.ts';

/** What the notifications need from outside. */
export type ToastPorts = {
  readonly gates: GateStore;
  /** How the session is called. */
  readonly nameOf: (sessionId: string) => string;
  /** True if a person sees the session's chat right now: the gate is on the screen already. */
  readonly isShown: (sessionId: string) => boolean;
  /** Shows the gate where it can be answered. */
  readonly open: (gate: Gate) => void;
  /** Fires when another session, or none, is on the screen. */
  readonly onDidChangeShown: Event<unknown>;
};

/** A notification of the editor's with buttons leaves the screen by itself after this long, in milliseconds. */
const ON_SCREEN_MS = 20_000;

/**
 * Shows each open gate as a notification, once, while a person looks at the window but not at its session; one that
 * opened before that is shown when the window gets the focus or the session leaves the screen. It leaves the screen when
 * the gate is answered elsewhere. Closing the notification is no answer, and a click after the gate was closed says so.
 */
export class GateToasts implements Disposable {
  readonly #ports: ToastPorts;
  readonly #shown = new Set<string>();
  /** When the notifications were shown that nobody has closed here. */
  readonly #onScreen = new Map<string, number>();
  readonly #store = new DisposableStore();

  constructor(ports: ToastPorts) {
    this.#ports = ports;
    this.#store.add(
      ports.gates.onDidChange((change) => {
        if (change.kind === 'opened') this.#offer(change.gate);
        else this.#closed(change.gate.gateId);
      }),
    );
    this.#store.add(vscode.window.onDidChangeWindowState(() => this.#offerAll()));
    this.#store.add(ports.onDidChangeShown(() => this.#offerAll()));
  }

  /**
   * The editor takes no single notification back, so all are put away; what others say stays in its list. That is done
   * only while this one may be on the screen.
   */
  #closed(gateId: string): void {
    this.#shown.delete(gateId);
    const since = this.#onScreen.get(gateId);
    this.#onScreen.delete(gateId);
    if (since === undefined || Date.now() - since > ON_SCREEN_MS) return;
    void vscode.commands.executeCommand('notifications.hideToasts');
  }

  #offerAll(): void {
    for (const gate of this.#ports.gates.all()) this.#offer(gate);
  }

  #offer(gate: Gate): void {
    const when = settings.toasts();
    if (when === 'never' || this.#shown.has(gate.gateId) || !vscode.window.state.focused) return;
    if (when === 'hidden' && this.#ports.isShown(gate.sessionId)) return;
    this.#shown.add(gate.gateId);
    void this.#show(gate);
  }

  async #show(gate: Gate): Promise<void> {
    const { gates } = this.#ports;
    const allow = allowOption(gate);
    const reject = rejectOption(gate);
    const open = l10n.t('Open');
    const actions = [...(allow ? [allow.name] : []), ...(reject ? [reject.name] : []), open];
    this.#onScreen.set(gate.gateId, Date.now());
    const picked = await vscode.window.showWarningMessage(
      l10n.t('{0}: {1}', this.#ports.nameOf(gate.sessionId), describe(gate)),
      ...actions,
    );
    this.#onScreen.delete(gate.gateId);
    if (picked === undefined) return;
    if (!gates.get(gate.gateId)) {
      void vscode.window.showInformationMessage(l10n.t('This was answered already.'));
      return;
    }
    if (picked === open) this.#ports.open(gate);
    else if (picked === allow?.name)
      gates.answer(gate.gateId, { kind: 'selected', optionId: allow.optionId });
    else if (picked === reject?.name)
      gates.answer(gate.gateId, { kind: 'selected', optionId: reject.optionId });
  }

  dispose(): void {
    this.#store.dispose();
  }
}

function describe(gate: Gate): string {
  const details = gate.question.kind === 'permission' ? gate.question.details : [];
  const [first] = details;
  const title = gateTitle(gate);
  return first === undefined || title.includes(first) ? title : `${title} — ${short(first)}`;
}

function short(text: string): string {
  const line = text.split('\n', 1)[0] ?? '';
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
