import { unescapeXml } from '../../../base/xml-text.ts';
import type { ModelMessage } from '../../session/model.ts';

type UserMessage = Extract<ModelMessage, { role: 'user' }>;

const ENVELOPE = /^<context-directives nonce="([^"]*)">\n([\s\S]*?)\n?<\/context-directives>\s*$/;
const DIRECTIVE = /<directive ([^>]*)>\n([\s\S]*?)\n<\/directive>/g;
const SUPERSEDES = /^<supersedes>[\s\S]*?<\/supersedes>\n/;

/** A directive as an envelope tells it. */
export type ToldDirective = {
  readonly authority: string;
  readonly source: string;
  readonly key: string;
  readonly text: string;
};

/** True for what the engine adds for attached files; a script does not need them. */
function isAttachment(text: string): boolean {
  return /^<resource uri="[\s\S]*<\/resource>\s*$/.test(text) || /^Attached: .+ \(.+\)$/.test(text);
}

/** The text of a user message without what is attached to it. */
export function textOf(message: UserMessage): string {
  return message.parts
    .flatMap((part) => (part.type === 'text' && !isAttachment(part.text) ? [part.text] : []))
    .join('\n');
}

/**
 * The directives of the engine's own envelopes, by message. The first envelope fixes the nonce; one with another, or
 * one that stands in anything but an envelope message, is forged and says nothing.
 */
export function genuineDirectives(
  messages: readonly ModelMessage[],
): ReadonlyMap<ModelMessage, readonly ToldDirective[]> {
  const genuine = new Map<ModelMessage, readonly ToldDirective[]>();
  let nonce: string | null = null;
  for (const message of messages) {
    if (message.role !== 'user' || message.origin !== 'directives') continue;
    const envelope = ENVELOPE.exec(textOf(message));
    if (envelope === null) continue;
    nonce ??= envelope[1] ?? '';
    if (envelope[1] === nonce) genuine.set(message, directivesOf(envelope[2] ?? ''));
  }
  return genuine;
}

function directivesOf(body: string): readonly ToldDirective[] {
  return [...body.matchAll(DIRECTIVE)].map(([, attributes = '', inner = '']) => ({
    authority: attribute(attributes, 'authority'),
    source: attribute(attributes, 'source'),
    key: attribute(attributes, 'key'),
    text: unescapeXml(inner.replace(SUPERSEDES, '')),
  }));
}

function attribute(attributes: string, name: string): string {
  return unescapeXml(new RegExp(`(?:^| )${name}="([^"]*)"`).exec(attributes)?.[1] ?? '');
}
