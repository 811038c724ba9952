import type { ContentBlock } from '../../../protocol/acp.ts';
import type { Directive } from '../control-events.ts';
import type { HistoryEvent } from '../events.ts';
import { AUTHORITIES, type Authority } from '../words.ts';
import type { InboxEntry } from './inbox.ts';

/** A directive before it is known what it replaces. */
export type NewDirective = Omit<Directive, 'supersedes'>;

/**
 * The directives that stand, folded from the history. Two collide only if they have the same key: then the higher
 * authority wins, at equal authority the newer. Source: Harn session control, authority; design §4.7.
 */
export class Directives {
  readonly #standing = new Map<string, Directive>();
  #nonce: string | null = null;

  /** The mark of genuine envelopes; null before the first. */
  get nonce(): string | null {
    return this.#nonce;
  }

  apply(event: HistoryEvent): void {
    if (event.type !== 'directives_issued') return;
    this.#nonce ??= event.nonce;
    for (const directive of event.directives) this.#standing.set(directive.key, directive);
  }

  /** In authority order; within one authority the oldest first. */
  standing(): readonly Directive[] {
    return inAuthorityOrder([...this.#standing.values()]);
  }

  /** Those that have something new to say, saying what they replace; in authority order. */
  toIssue(wanted: readonly NewDirective[]): readonly Directive[] {
    const issued = new Map<string, Directive>();
    for (const directive of wanted) {
      const known = issued.get(directive.key) ?? this.#standing.get(directive.key);
      if (known !== undefined && outranks(known.authority, directive.authority)) continue;
      if (known?.text === directive.text && known.authority === directive.authority) continue;
      issued.delete(directive.key);
      issued.set(directive.key, { ...directive, supersedes: known?.text ?? null });
    }
    return inAuthorityOrder([...issued.values()]);
  }
}

/** The directive of a delivered message: a contract for a steer or interrupt, what it asks for for a reminder. */
export function directiveOf(entry: InboxEntry): NewDirective {
  const { messageId, mode, content, reminder } = entry;
  if (reminder !== null)
    return {
      key: `reminder/${reminder.dedupeKey}`,
      authority: reminder.authority,
      source: 'reminder',
      text: textOf(content),
      messageId,
    };
  const source = mode === 'interrupt_immediate' ? 'interrupt' : 'steer';
  return {
    key: `${source}/${messageId}`,
    authority: 'contract',
    source,
    text: textOf(content),
    messageId,
  };
}

/** The words of a message; what is no text is named. */
export function textOf(content: readonly ContentBlock[]): string {
  return content
    .map((block) => {
      switch (block.type) {
        case 'text':
          return block.text;
        case 'resource_link':
          return `[${block.name}](${block.uri})`;
        case 'resource':
          return `[attached: ${block.resource.uri}]`;
        case 'image':
        case 'audio':
          return `[attached: ${block.type}]`;
      }
      return '';
    })
    .join('\n');
}

/** True if nothing of equal keys may replace `a` by `b`. */
function outranks(a: Authority, b: Authority): boolean {
  return AUTHORITIES.indexOf(a) < AUTHORITIES.indexOf(b);
}

function inAuthorityOrder(directives: readonly Directive[]): readonly Directive[] {
  return AUTHORITIES.flatMap((authority) =>
    directives.filter((directive) => directive.authority === authority),
  );
}
