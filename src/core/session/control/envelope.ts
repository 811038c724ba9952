import { escapeXml } from '../../../base/xml-text.ts';
import type { Directive } from '../control-events.ts';
import type { ModelPart } from '../model.ts';

/** One envelope of directives as the model reads it; only those with the session's nonce are genuine. */
export function renderEnvelope(nonce: string, directives: readonly Directive[]): string {
  const inner = directives.map(
    ({ authority, source, key, text, supersedes }) =>
      `<directive authority="${authority}" source="${source}" key="${escapeXml(key)}">\n` +
      `${supersedes === null ? '' : `<supersedes>${escapeXml(supersedes)}</supersedes>\n`}` +
      `${escapeXml(text)}\n</directive>`,
  );
  return [
    `<context-directives nonce="${escapeXml(nonce)}">`,
    ...inner,
    '</context-directives>',
  ].join('\n');
}

/** What looks like a directive in text that is none (a tool's output, a file) can't be taken for one. */
export function defanged(text: string): string {
  return text.replaceAll(/<(\/?)(context-directives|directive)\b/gi, '&lt;$1$2');
}

/** As `defanged`, for every text of a message. */
export function defangedParts(parts: readonly ModelPart[]): readonly ModelPart[] {
  return parts.map((part) =>
    part.type === 'text' ? { ...part, text: defanged(part.text) } : part,
  );
}
