import * as l10n from '@vscode/l10n';
import * as vscode from 'vscode';
import { CodedError } from '../../base/errors.ts';
import type { LineEdit } from './hunks/lines.ts';
import type { ReviewFile } from './review/review-file.ts';
import { planUndo } from './review/undo-plan.ts';
import { currentText } from './reviews.ts';

/** Changes of a file that shall be undone: what is pending of it with these ids. */
export type UndoRequest = { readonly file: ReviewFile; readonly ids: ReadonlySet<string> };

/** How many files were changed, and how many changes were left alone because somebody edited their lines since. */
export type UndoResult = { readonly files: number; readonly refused: number };

/**
 * Takes changes back as one edit that the editor can undo, and saves the files that had nothing unsaved. Throws
 * `diffs.refused` where nothing can be undone, `diffs.not_applied` where the editor would not.
 */
export async function undoChanges(requests: readonly UndoRequest[]): Promise<UndoResult> {
  const edit = new vscode.WorkspaceEdit();
  const toSave: vscode.TextDocument[] = [];
  let files = 0;
  let refused = 0;
  for (const { file, ids } of requests) {
    const uri = vscode.Uri.file(file.path);
    const plan = planUndo(file, ids, await currentText(file.path));
    if (plan.kind === 'refused') {
      refused += plan.reason === 'changed' ? ids.size : 0;
      continue;
    }
    files += 1;
    if (plan.kind === 'delete') edit.deleteFile(uri);
    else if (plan.kind === 'create')
      edit.createFile(uri, { contents: await vscode.workspace.encode(plan.text, { uri }) });
    else {
      refused += plan.refused;
      const document = await vscode.workspace.openTextDocument(uri);
      if (!document.isDirty) toSave.push(document);
      edit.set(uri, textEdits(document, plan.edits, plan.lineEnd));
    }
  }
  if (files === 0) throw refusal(refused);
  if (!(await vscode.workspace.applyEdit(edit, { isRefactoring: false })))
    throw new CodedError(
      'diffs.not_applied',
      l10n.t('The editor did not apply the edit. Is a file read-only, or was it changed just now?'),
    );
  await Promise.all(toSave.map(async (document) => document.save()));
  return { files, refused };
}

function refusal(refused: number): CodedError {
  return refused > 0
    ? new CodedError(
        'diffs.refused',
        l10n.t(
          'These lines were edited since the session wrote them, so they were left as they are. Undo them by hand: the diff shows what they were.',
        ),
      )
    : new CodedError('diffs.refused', l10n.t('This change is undone already.'));
}

function textEdits(
  document: vscode.TextDocument,
  edits: readonly LineEdit[],
  lineEnd: '\n' | '\r\n' | null,
): vscode.TextEdit[] {
  const eol = document.eol === vscode.EndOfLine.CRLF ? '\r\n' : '\n';
  const result = edits.map((edit) => textEdit(document, edit, eol));
  if (lineEnd !== null)
    result.push(
      vscode.TextEdit.setEndOfLine(
        lineEnd === '\r\n' ? vscode.EndOfLine.CRLF : vscode.EndOfLine.LF,
      ),
    );
  return result;
}

/** The edit in positions: at the end of the file there is no line end behind the last line, so the one before goes. */
function textEdit(document: vscode.TextDocument, edit: LineEdit, eol: string): vscode.TextEdit {
  const { start, end, lines } = edit;
  if (end < document.lineCount)
    return vscode.TextEdit.replace(
      new vscode.Range(start, 0, end, 0),
      lines.map((line) => line + eol).join(''),
    );
  const last = document.lineAt(document.lineCount - 1).range.end;
  if (start === 0)
    return vscode.TextEdit.replace(
      new vscode.Range(new vscode.Position(0, 0), last),
      lines.join(eol),
    );
  const from = document.lineAt(start - 1).range.end;
  return vscode.TextEdit.replace(
    new vscode.Range(from, last),
    lines.map((line) => eol + line).join(''),
  );
}
