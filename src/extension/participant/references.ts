import * as vscode from 'vscode';
import type { ContentBlock } from '../../protocol/acp.ts';
import type { ChatAttachment } from '../../protocol/chat.ts';
import { promptBlocks } from '../chat/mentions/prompt-blocks.ts';

/** The prompt with what the person attached to it in the chat: files as links, selections with their text. */
export async function blocksOf(request: vscode.ChatRequest): Promise<ContentBlock[]> {
  const notes: string[] = [];
  const attachments: ChatAttachment[] = [];
  for (const { value } of request.references) {
    if (typeof value === 'string') notes.push(value);
    else if (value instanceof vscode.Uri) attachments.push(attachment(value));
    else if (value instanceof vscode.Location) attachments.push(attachment(value.uri, value.range));
  }
  const text = [request.prompt, ...notes].join('\n\n');
  return promptBlocks(text, attachments, [], readSelection);
}

function attachment(uri: vscode.Uri, range?: vscode.Range): ChatAttachment {
  const name = uri.path.slice(uri.path.lastIndexOf('/') + 1);
  return {
    name,
    uri: uri.toString(),
    kind: range ? 'selection' : 'file',
    ...(range ? { range: `${range.start.line + 1}-${range.end.line + 1}` } : {}),
  };
}

async function readSelection({ uri, kind, range }: ChatAttachment): Promise<string | null> {
  if (kind !== 'selection' || range === undefined) return null;
  const [first = 1, last = first] = range.split('-').map(Number);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(uri));
  return document.getText(new vscode.Range(first - 1, 0, last - 1, Number.MAX_SAFE_INTEGER));
}
