import * as vscode from 'vscode';
import * as z from 'zod/mini';
import { type Disposable, DisposableStore } from '../../base/disposables.ts';
import { RpcError } from '../../protocol/errors.ts';
import { badParams, type ClientCalls } from './client-requests.ts';
import { sliceLines } from './slice-lines.ts';

const READ = z.looseObject({
  sessionId: z.string(),
  path: z.string(),
  line: z.optional(z.nullable(z.number())),
  limit: z.optional(z.nullable(z.number())),
});
const WRITE = z.looseObject({ sessionId: z.string(), path: z.string(), content: z.string() });

/**
 * Lets the agent read and write documents that are open in the editor, unsaved text included. For any other file the
 * answer is `resource not found`, and the agent uses the disk.
 */
export function serveOpenDocuments(calls: ClientCalls): Disposable {
  const store = new DisposableStore();
  store.add(
    calls.onRequest('fs/read_text_file', async (params) => {
      const request = z.safeParse(READ, params);
      if (!request.success) throw badParams('fs/read_text_file', request.error.message);
      const { path, line, limit } = request.data;
      return { content: sliceLines(openDocument(path).getText(), line, limit) };
    }),
  );
  store.add(
    calls.onRequest('fs/write_text_file', async (params) => {
      const request = z.safeParse(WRITE, params);
      if (!request.success) throw badParams('fs/write_text_file', request.error.message);
      await write(openDocument(request.data.path), request.data.content);
      return {};
    }),
  );
  return store;
}

function openDocument(path: string): vscode.TextDocument {
  const wanted = vscode.Uri.file(path).toString();
  const document = vscode.workspace.textDocuments.find(
    (one) => !one.isClosed && one.uri.scheme === 'file' && one.uri.toString() === wanted,
  );
  if (document) return document;
  throw new RpcError('resourceNotFound', `Not open in the editor: ${path}`);
}

/** Replaces the text as one undoable edit and saves it, so that editor and disk agree. */
async function write(document: vscode.TextDocument, content: string): Promise<void> {
  const end = document.lineAt(document.lineCount - 1).rangeIncludingLineBreak.end;
  const edit = new vscode.WorkspaceEdit();
  const endOfLine = content.includes('\r\n') ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF;
  if (content.includes('\n') && endOfLine !== document.eol)
    edit.set(document.uri, [vscode.TextEdit.setEndOfLine(endOfLine)]);
  const text = vscode.TextEdit.replace(new vscode.Range(new vscode.Position(0, 0), end), content);
  edit.set(document.uri, [...edit.get(document.uri), text]);
  const applied = await vscode.workspace.applyEdit(edit);
  if (applied && (await document.save())) return;
  throw new RpcError(
    'internalError',
    `The editor did not save ${document.uri.fsPath}. Save it or close it and try again.`,
  );
}
