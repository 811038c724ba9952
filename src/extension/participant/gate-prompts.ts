import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { type Gate, gateTitle } from '../approvals/gate.ts';

/**
 * Says in the chat that the session waits for the person, with buttons that do what the tree's do. The question
 * itself lives in the approvals: what is answered elsewhere is answered here too, and a late click changes nothing.
 */
export function showGate(stream: vscode.ChatResponseStream, gate: Gate): void {
  const text = new vscode.MarkdownString('\n\n');
  text.appendMarkdown(`**${l10n.t('The session waits for your answer')}:** `);
  text.appendText(gateTitle(gate));
  text.appendMarkdown('\n\n');
  stream.markdown(text);
  const target = [{ gateId: gate.gateId }];
  if (gate.question.kind === 'permission') {
    stream.button({ command: 'pilothouse.approve', title: l10n.t('Approve'), arguments: target });
    stream.button({ command: 'pilothouse.reject', title: l10n.t('Reject'), arguments: target });
  } else
    stream.button({ command: 'pilothouse.approve', title: l10n.t('Answer'), arguments: target });
}
