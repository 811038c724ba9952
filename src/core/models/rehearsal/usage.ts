import type { ModelMessage, ModelRequest } from '../../session/model.ts';
import type { Usage } from '../../session/words.ts';

/** About four characters make a token; rehearsal only has to be plausible and exact. */
const CHARACTERS_PER_TOKEN = 4;

function lengthOf(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return partsLength(message.parts);
    case 'assistant':
      return message.text.length + message.thought.length;
    case 'tool':
      return message.results.reduce((sum, result) => sum + partsLength(result.parts), 0);
  }
}

function partsLength(parts: readonly { readonly type: string; readonly text?: string }[]): number {
  return parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
}

/** Counts that follow from the request and the length of the reply alone. */
export function usageOf(request: ModelRequest, outputLength: number): Usage {
  const input = request.messages.reduce(
    (sum, message) => sum + lengthOf(message),
    request.system.length,
  );
  return {
    inputTokens: Math.ceil(input / CHARACTERS_PER_TOKEN),
    outputTokens: Math.ceil(outputLength / CHARACTERS_PER_TOKEN),
    costUsd: 0,
  };
}
