import type { ModelMessage } from '../../session/model.ts';

const DIRECTIVE = /<directive\b(?:"[^"]*"|[^>"])*>([\s\S]*?)<\/directive>/gi;

/** True for what the engine adds for attached files; a script does not need them. */
function isAttachment(text: string): boolean {
  return /^<resource uri="[\s\S]*<\/resource>\s*$/.test(text) || /^Attached: .+ \(.+\)$/.test(text);
}

/** The text of a user message without the envelope that the engine puts around delivered directives. */
export function textOf(message: Extract<ModelMessage, { role: 'user' }>): string {
  const text = message.parts
    .flatMap((part) => (part.type === 'text' && !isAttachment(part.text) ? [part.text] : []))
    .join('\n');
  if (!/^\s*<directive/i.test(text)) return text;
  const inner = [...text.matchAll(DIRECTIVE)].map((match) => match[1] ?? '');
  return inner.length === 0 ? text : inner.join('\n');
}
