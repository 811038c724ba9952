import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { isObject } from '../../base/json.ts';
import { pageHtml } from '../chat/webview/page-html.ts';
import type { ClientCalls } from '../core/client-requests.ts';
import { parseFromReceipts } from './from-receipts.ts';
import type { ReadReceipts } from './receipt-feed.ts';
import { ReceiptsDesk } from './receipts-desk.ts';
import { type VerifyChain, verifyBoth, verifyHost } from './verification.ts';

/** What receipts pages need from the rest of the extension. */
export type ReceiptsPorts = {
  readonly extensionUri: vscode.Uri;
  readonly calls: ClientCalls;
  readonly read: ReadReceipts;
  /** Checks one chain of a session, or of the host's own stream by its name. */
  readonly verify: (sessionId: string) => VerifyChain;
  readonly sessionName: (sessionId: string) => string;
  /** True if the session is one that this window knows. */
  readonly isKnown: (sessionId: string) => boolean;
};

const VIEW_TYPE = 'pilothouse.internal.receipts';
/** The name of the host's own stream, which holds the receipts of controls that named no session here. */
const HOST = 'host';
/** Receipts often come several at once: they are fetched together. */
const QUIET_MS = 100;

type Open = { readonly panel: vscode.WebviewPanel; readonly desk: ReceiptsDesk };

/** The receipts pages that are open: one a session, and one for controls that named no session here. */
export class ReceiptsPanels implements Disposable {
  readonly #ports: ReceiptsPorts;
  readonly #open = new Map<string | null, Open>();
  readonly #store = new DisposableStore();
  #timer: NodeJS.Timeout | null = null;
  readonly #due = new Set<string>();

  constructor(ports: ReceiptsPorts) {
    this.#ports = ports;
    this.#store.add(
      ports.calls.onNotification('_harn/agentEvent', (params) => {
        if (!isObject(params) || params['kind'] !== 'control_outcome') return;
        const { sessionId } = params;
        this.#receiptCame(typeof sessionId === 'string' ? sessionId : '');
      }),
    );
  }

  /** Shows the page of a session; null: of controls that named no session here. */
  show(sessionId: string | null): ReceiptsDesk {
    const known = this.#open.get(sessionId);
    if (known) {
      known.panel.reveal();
      return known.desk;
    }
    const panel = vscode.window.createWebviewPanel(
      VIEW_TYPE,
      this.#title(sessionId),
      vscode.ViewColumn.Active,
      {
        enableScripts: true,
        enableForms: false,
        localResourceRoots: [this.#media],
        enableFindWidget: true,
      },
    );
    panel.iconPath = new vscode.ThemeIcon('checklist');
    const desk = this.#desk(sessionId, panel);
    this.#open.set(sessionId, { panel, desk });
    panel.onDidDispose(() => this.#open.delete(sessionId));
    panel.webview.onDidReceiveMessage((raw: unknown) => {
      const message = parseFromReceipts(raw);
      if (message) void desk.receive(message);
    });
    panel.webview.html = pageHtml(panel.webview, this.#media, {
      name: 'receipts',
      title: l10n.t('Receipts'),
      loading: l10n.t('Loading…'),
    });
    return desk;
  }

  get #media(): vscode.Uri {
    return vscode.Uri.joinPath(this.#ports.extensionUri, 'dist', 'media');
  }

  #title(sessionId: string | null): string {
    return sessionId === null
      ? l10n.t('Receipts Without a Session')
      : l10n.t('Receipts: {0}', this.#ports.sessionName(sessionId));
  }

  #desk(sessionId: string | null, panel: vscode.WebviewPanel): ReceiptsDesk {
    return new ReceiptsDesk({
      sessionId,
      title: () => (sessionId === null ? '' : this.#ports.sessionName(sessionId)),
      read: this.#ports.read,
      verify: async (stream) =>
        stream === 'host' || sessionId === null
          ? verifyHost(this.#ports.verify(HOST))
          : verifyBoth(this.#ports.verify(sessionId)),
      post: (message) => void panel.webview.postMessage(message),
      copy: async (text) => vscode.env.clipboard.writeText(text),
      save,
      now: () => Date.now(),
    });
  }

  #receiptCame(sessionId: string): void {
    if (this.#open.size === 0) return;
    this.#due.add(sessionId);
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const due = [...this.#due];
      this.#due.clear();
      for (const [id, { desk }] of this.#open)
        if (due.some((one) => this.#concerns(desk, id, one))) void desk.refreshNewest();
    }, QUIET_MS);
  }

  #concerns(desk: ReceiptsDesk, shown: string | null, sessionId: string): boolean {
    return desk.stream === 'host' ? !this.#ports.isKnown(sessionId) : shown === sessionId;
  }

  dispose(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    for (const { panel } of this.#open.values()) panel.dispose();
    this.#store.dispose();
  }
}

async function save(name: string, text: string): Promise<void> {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const uri = await vscode.window.showSaveDialog({
    ...(folder ? { defaultUri: vscode.Uri.joinPath(folder, name) } : {}),
    filters: { JSON: ['json'] },
    title: l10n.t('Export Receipts'),
  });
  if (!uri) return;
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  const open = l10n.t('Open');
  const saved = l10n.t('The receipts are in {0}.', vscode.workspace.asRelativePath(uri));
  if ((await vscode.window.showInformationMessage(saved, open)) === open)
    await vscode.commands.executeCommand('vscode.open', uri);
}
