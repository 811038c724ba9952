import type {
  LanguageModelV3FilePart,
  LanguageModelV3FunctionTool,
  LanguageModelV3Message,
  LanguageModelV3TextPart,
  LanguageModelV3ToolResultOutput,
  LanguageModelV3ToolResultPart,
} from '@ai-sdk/provider';
import type {
  ModelMessage,
  ModelPart,
  ModelRequest,
  ModelToolResult,
  ToolDefinition,
} from '../../session/model.ts';
import { wireCallId } from './call-ids.ts';
import { assistantParts, type StateOwner } from './provider-state.ts';

/** What a model can be shown. */
export type PromptTraits = {
  readonly images: boolean;
  readonly audio: boolean;
  /** False where a tool result is text only; its images then follow in a user message. */
  readonly imagesInToolResults: boolean;
};

type UserPart = LanguageModelV3TextPart | LanguageModelV3FilePart;

/**
 * Converts a request's messages. Each message is converted by itself, so that the converted list of a later request
 * begins with that of an earlier one (design §4.7); what would be empty is left out.
 */
export function toPrompt(
  request: ModelRequest,
  owner: StateOwner,
  traits: PromptTraits,
): LanguageModelV3Message[] {
  const system: LanguageModelV3Message[] =
    request.system.trim() === '' ? [] : [{ role: 'system', content: request.system }];
  return [...system, ...request.messages.flatMap((message) => toMessages(message, owner, traits))];
}

function toMessages(
  message: ModelMessage,
  owner: StateOwner,
  traits: PromptTraits,
): LanguageModelV3Message[] {
  switch (message.role) {
    case 'user': {
      const content = message.parts.flatMap((part) => userPart(part, traits));
      return content.length === 0 ? [] : [{ role: 'user', content }];
    }
    case 'assistant': {
      const content = assistantParts(message, owner);
      return content.length === 0 ? [] : [{ role: 'assistant', content }];
    }
    case 'tool':
      return toolMessages(message.results, traits);
  }
}

function userPart(part: ModelPart, traits: PromptTraits): UserPart[] {
  if (part.type === 'text') {
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  }
  const shown = part.type === 'image' ? traits.images : traits.audio;
  if (!shown) return [{ type: 'text', text: notShown(part) }];
  return [{ type: 'file', mediaType: part.mimeType, data: part.data }];
}

function notShown(part: Exclude<ModelPart, { type: 'text' }>): string {
  return `[${part.type} (${part.mimeType}) left out: this model can't take it]`;
}

function toolMessages(
  results: readonly ModelToolResult[],
  traits: PromptTraits,
): LanguageModelV3Message[] {
  const content = results.map(
    (result): LanguageModelV3ToolResultPart => ({
      type: 'tool-result',
      toolCallId: wireCallId(result.toolCallId),
      toolName: result.name,
      output: toolOutput(result, traits),
    }),
  );
  if (content.length === 0) return [];
  const images = traits.images && !traits.imagesInToolResults ? imagesOf(results) : [];
  return images.length === 0
    ? [{ role: 'tool', content }]
    : [
        { role: 'tool', content },
        {
          role: 'user',
          content: [{ type: 'text', text: 'Images from the tool results above:' }, ...images],
        },
      ];
}

function imagesOf(results: readonly ModelToolResult[]): LanguageModelV3FilePart[] {
  return results
    .flatMap((result) => result.parts)
    .flatMap((part) =>
      part.type === 'image' ? [{ type: 'file', mediaType: part.mimeType, data: part.data }] : [],
    );
}

function toolOutput(
  result: ModelToolResult,
  traits: PromptTraits,
): LanguageModelV3ToolResultOutput {
  const showImages = traits.images && traits.imagesInToolResults;
  if (showImages && result.parts.some((part) => part.type === 'image')) {
    return {
      type: 'content',
      value: result.parts.map((part) =>
        part.type === 'image'
          ? { type: 'image-data', data: part.data, mediaType: part.mimeType }
          : { type: 'text', text: resultText(part, traits) },
      ),
    };
  }
  const text = result.parts.map((part) => resultText(part, traits)).join('\n');
  const value = text.trim() === '' ? emptyText(result) : text;
  return { type: result.status === 'completed' ? 'text' : 'error-text', value };
}

function resultText(part: ModelPart, traits: PromptTraits): string {
  if (part.type === 'text') return part.text;
  return part.type === 'image' && traits.images && !traits.imagesInToolResults
    ? `[image (${part.mimeType}), see below]`
    : notShown(part);
}

function emptyText(result: ModelToolResult): string {
  return result.status === 'completed' ? '(no output)' : `(${result.status})`;
}

/** Converts the tools, in their order. */
export function toTools(tools: readonly ToolDefinition[]): LanguageModelV3FunctionTool[] {
  return tools.map((tool) => ({
    type: 'function',
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
  }));
}
