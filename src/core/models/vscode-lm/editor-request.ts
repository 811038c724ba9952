import type { EditorInput, EditorMessage, EditorModel } from '../../../protocol/editor-models.ts';
import type { ModelMessage, ModelPart, ModelRequest } from '../../session/model.ts';
import type { EditorRequest } from './editor-models.ts';

/** Converts a request, message by message; what would be empty is left out. */
export function toEditorRequest(request: ModelRequest, model: EditorModel): EditorRequest {
  return {
    modelId: model.id,
    system: request.system,
    messages: request.messages.flatMap((message) => toEditorMessage(message, model.images)),
    tools: request.tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema,
    })),
  };
}

function toEditorMessage(message: ModelMessage, images: boolean): EditorMessage[] {
  switch (message.role) {
    case 'user': {
      const parts = message.parts.flatMap((part) => toInput(part, images));
      return parts.length === 0 ? [] : [{ role: 'user', parts }];
    }
    case 'assistant': {
      const { text, calls } = message;
      if (text.trim() === '' && calls.length === 0) return [];
      return [
        {
          role: 'assistant',
          text,
          calls: calls.map((call) => ({
            callId: call.toolCallId,
            name: call.name,
            input: call.input,
          })),
        },
      ];
    }
    case 'tool':
      return [
        {
          role: 'tool',
          results: message.results.map((result) => {
            const parts = result.parts.flatMap((part) => toInput(part, images));
            return {
              callId: result.toolCallId,
              parts: parts.length === 0 ? [{ type: 'text', text: `(${result.status})` }] : parts,
            };
          }),
        },
      ];
  }
}

function toInput(part: ModelPart, images: boolean): EditorInput[] {
  if (part.type === 'text') return part.text === '' ? [] : [part];
  if (part.type === 'image' && images) return [part];
  return [
    { type: 'text', text: `[${part.type} (${part.mimeType}) left out: this model can't take it]` },
  ];
}
