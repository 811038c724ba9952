import * as vscode from 'vscode';
import type {
  EditorGenerateParams,
  EditorInput,
  EditorMessage,
} from '../../protocol/editor-models.ts';

/** A request's messages as the editor's models take them. They have no system role: it goes first, as the user's. */
export function chatMessages({
  system,
  messages,
}: Pick<EditorGenerateParams, 'system' | 'messages'>): vscode.LanguageModelChatMessage[] {
  const rest = messages.map(chatMessage);
  return system === '' ? rest : [vscode.LanguageModelChatMessage.User(system), ...rest];
}

function chatMessage(message: EditorMessage): vscode.LanguageModelChatMessage {
  switch (message.role) {
    case 'user':
      return vscode.LanguageModelChatMessage.User(message.parts.map(inputPart));
    case 'assistant':
      return vscode.LanguageModelChatMessage.Assistant([
        ...(message.text === '' ? [] : [new vscode.LanguageModelTextPart(message.text)]),
        ...message.calls.map(
          ({ callId, name, input }) => new vscode.LanguageModelToolCallPart(callId, name, input),
        ),
      ]);
    case 'tool':
      return vscode.LanguageModelChatMessage.User(
        message.results.map(
          ({ callId, parts }) =>
            new vscode.LanguageModelToolResultPart(callId, parts.map(inputPart)),
        ),
      );
  }
}

function inputPart(part: EditorInput): vscode.LanguageModelTextPart | vscode.LanguageModelDataPart {
  return part.type === 'text'
    ? new vscode.LanguageModelTextPart(part.text)
    : vscode.LanguageModelDataPart.image(Buffer.from(part.data, 'base64'), part.mimeType);
}
