import type { ModelMessage, ModelPart } from '../model.ts';

/** About four characters make a token; it only has to be good enough to decide what fits. */
const CHARACTERS_PER_TOKEN = 4;
const ATTACHMENT_TOKENS = 1_500;

/** How many tokens a message takes, about. */
export function estimateTokens(message: ModelMessage): number {
  switch (message.role) {
    case 'user':
      return partsTokens(message.parts);
    case 'assistant':
      return textTokens(message.text + message.thought + JSON.stringify(message.calls));
    case 'tool':
      return message.results.reduce((sum, { parts }) => sum + partsTokens(parts), 0);
  }
}

/** A message for a reader that is not its model; each text is cut to `max` UTF-16 units. */
export function messageText(message: ModelMessage, max: number): string {
  switch (message.role) {
    case 'user':
      return `[${message.origin}] ${partsText(message.parts, max)}`;
    case 'assistant': {
      const calls = message.calls.map(
        ({ name, input }) => `[call ${name}] ${cut(JSON.stringify(input), max)}`,
      );
      return [...(message.text === '' ? [] : [`[agent] ${cut(message.text, max)}`]), ...calls].join(
        '\n',
      );
    }
    case 'tool':
      return message.results
        .map(({ name, status, parts }) => `[result ${name} ${status}] ${partsText(parts, max)}`)
        .join('\n');
  }
}

/** Keeps both ends of a text that is too long, without breaking a character. */
export function cut(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  const head = text.slice(0, half).toWellFormed();
  const tail = text.slice(text.length - half).toWellFormed();
  return `${head}\n… left out …\n${tail}`;
}

function partsText(parts: readonly ModelPart[], max: number): string {
  return cut(
    parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n'),
    max,
  );
}

function partsTokens(parts: readonly ModelPart[]): number {
  return parts.reduce(
    (sum, part) => sum + (part.type === 'text' ? textTokens(part.text) : ATTACHMENT_TOKENS),
    0,
  );
}

function textTokens(text: string): number {
  return Math.ceil(text.length / CHARACTERS_PER_TOKEN);
}
