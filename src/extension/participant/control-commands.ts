import * as l10n from '@vscode/l10n';
import type * as vscode from 'vscode';
import type { ChatSendMode } from '../../protocol/chat.ts';
import type { Control } from '../../protocol/controls.ts';
import type { Services } from '../commands/services.ts';
import type { LiveReceipt } from '../sessions/control/receipts.ts';
import { type Sent, sendMessage } from '../sessions/control/sending.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { settings } from '../settings/settings.ts';
import { blocksOf } from './references.ts';

/** How long a receipt may come after its control's answer, in milliseconds. */
const RECEIPT_WAIT_MS = 3_000;

/** `/steer`, `/queue`, `/interrupt` and `/note`: sends the text and answers with the receipt. */
export async function sendControl(
  session: LiveSession,
  request: vscode.ChatRequest,
  stream: vscode.ChatResponseStream,
  mode: ChatSendMode,
): Promise<void> {
  const blocks = await blocksOf(request);
  const receipts = new ReceiptWatch(session, METHODS[mode]);
  try {
    const sent = await sendMessage(session, blocks, request.prompt, settings.sending(), mode);
    stream.markdown(`${sentWords(sent)}\n\n`);
    tellReceipt(stream, await receipts.next());
  } finally {
    receipts.dispose();
  }
}

/** `/stop`: stops the session and answers with the receipt. */
export async function stopWithReceipt(
  { hub }: Services,
  sessionId: string,
  stream: vscode.ChatResponseStream,
): Promise<void> {
  const session = await hub.open(sessionId);
  const wasRunning = session.isRunning;
  const receipts = new ReceiptWatch(session, 'session/cancel');
  try {
    await hub.stop(sessionId);
    const receipt = await receipts.next();
    const stopped = receipt ? receipt.outcome === 'cancelled' : wasRunning;
    const words = stopped ? l10n.t('Stop was sent.') : l10n.t('Nothing was running.');
    stream.markdown(`${words}\n\n`);
    tellReceipt(stream, receipt);
  } finally {
    receipts.dispose();
  }
}

const METHODS: Readonly<Record<ChatSendMode, Control>> = {
  steer: 'session/inject',
  interrupt: 'session/inject',
  note: 'session/inject',
  next: '_pilothouse/queue/add',
  prompt: 'session/inject',
};

/** The first receipt of a kind of control from now on; it may come before or after the control's answer. */
class ReceiptWatch {
  readonly #came: Promise<LiveReceipt | null>;
  readonly #timeout: AbortController = new AbortController();
  readonly #subscription: { dispose(): void };
  #resolve: (receipt: LiveReceipt | null) => void = () => undefined;

  constructor(session: LiveSession, method: Control) {
    this.#came = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.#subscription = session.onDidChange((change) => {
      if (change.kind === 'receipt' && change.receipt.method === method)
        this.#resolve(change.receipt);
    });
  }

  /** Null if none comes in time. */
  async next(): Promise<LiveReceipt | null> {
    const timer = setTimeout(() => this.#resolve(null), RECEIPT_WAIT_MS);
    this.#timeout.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
    return this.#came;
  }

  dispose(): void {
    this.#timeout.abort();
    this.#subscription.dispose();
  }
}

function sentWords({ mode, fellBack }: Sent): string {
  if (fellBack) return l10n.t('No turn was running, so the message was sent as the next prompt.');
  if (mode === 'next') return l10n.t('Queued for the next turn.');
  if (mode === 'prompt') return l10n.t('Sent as a prompt.');
  if (mode === 'note') return l10n.t('Note added: the agent will not read it.');
  return mode === 'interrupt'
    ? l10n.t('Interrupt sent: the agent reads it once the steps under way are over.')
    : l10n.t('Steer sent: the agent reads it after the step that runs.');
}

function tellReceipt(stream: vscode.ChatResponseStream, receipt: LiveReceipt | null): void {
  if (!receipt) {
    stream.markdown(l10n.t('No receipt has come yet; see Show Receipts.'));
    return;
  }
  const { outcome, status, control_id, reason } = receipt;
  const lines = [
    l10n.t('Outcome: {0}', `\`${outcome}\``),
    l10n.t('Status: {0}', `\`${status}\``),
    ...(reason === undefined ? [] : [l10n.t('Reason: {0}', `\`${reason}\``)]),
    l10n.t('Control: {0}', `\`${control_id}\``),
  ];
  stream.markdown(lines.map((line) => `- ${line}`).join('\n'));
}
