import * as vscode from 'vscode';
import * as z from 'zod/mini';
import type { Span } from './review/turn-changes.ts';

/** The scheme of read-only texts that exist in a session only: a file as it was before, or after one step. */
export const CHANGE_SCHEME = 'pilothouse-change';

const SPAN = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('call'), toolCallId: z.string() }),
  z.object({ kind: z.literal('events'), from: z.number(), to: z.number() }),
]);
const QUERY = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('baseline'), sessionId: z.string() }),
  z.object({
    kind: z.literal('step'),
    sessionId: z.string(),
    side: z.enum(['before', 'after']),
    span: SPAN,
  }),
]);

/** What a text of the scheme is: what the review compares with, or one side of a step. */
export type ChangeText =
  | { readonly kind: 'baseline'; readonly sessionId: string }
  | {
      readonly kind: 'step';
      readonly sessionId: string;
      readonly side: 'before' | 'after';
      readonly span: Span;
    };

/** The URI of a text; it ends with the file's path, so that the editor finds the language. */
export function changeUri(path: string, text: ChangeText): vscode.Uri {
  return vscode.Uri.file(path).with({ scheme: CHANGE_SCHEME, query: JSON.stringify(text) });
}

/** The file and the text that a URI names, or null. */
export function parseChangeUri(uri: vscode.Uri): { path: string; text: ChangeText } | null {
  if (uri.scheme !== CHANGE_SCHEME) return null;
  let query: unknown;
  try {
    query = JSON.parse(uri.query);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
  const parsed = z.safeParse(QUERY, query);
  return parsed.success
    ? { path: uri.with({ scheme: 'file', query: '' }).fsPath, text: parsed.data }
    : null;
}
