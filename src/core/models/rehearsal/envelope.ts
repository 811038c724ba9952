import type { ModelMessage } from '../../session/model.ts';

const DIRECTIVE = /<directive\b(?:"[^"]*"|[^>"])*>([\s\S]*?)<\/directive>/gi;

/** The text of a user message without the envelope that the engine puts around delivered directives. */
export function textOf(message: Extract<ModelMessage, { role: 'user' }>): string {
  const text = message.parts
    .flatMap((part) => (part.type === 'text' ? [part.text] : []))
    .join('\n');
  if (!/^\s*<directive/i.test(text)) return text;
  const inner = [...text.matchAll(DIRECTIVE)].map((match) => match[1] ?? '');
  return inner.length === 0 ? text : inner.join('\n');
}
