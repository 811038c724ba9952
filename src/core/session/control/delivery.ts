import { resolution } from '../commands/resolution.ts';
import type { Cause, HistoryEvent } from '../events.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import type { Seam, TurnId } from '../words.ts';
import type { InboxEntry } from './inbox.ts';

type Envelope = Extract<HistoryEvent, { type: 'directives_issued' }>;

/** The records of a seam's envelope: caused by the messages that it speaks for. */
export function envelopeRecord(event: Envelope, due: readonly InboxEntry[]): NewRecord {
  const spokenFor = new Set(event.directives.map(({ messageId }) => messageId));
  const entries = due.filter(({ messageId }) => spokenFor.has(messageId));
  return { stream: 'history', event, ...causedBy(entries) };
}

/**
 * The records of a message's delivery. A person's message is part of the transcript. A reminder is read as a directive;
 * one that no model is to read, or that says nothing new, is only recorded.
 */
export function deliveryRecords(
  { turnId, seam }: { readonly turnId: TurnId; readonly seam: Seam },
  entry: InboxEntry,
  envelope: readonly Envelope[],
): readonly NewRecord[] {
  const { messageId, mode, content, owner: actor, reminder, commandId } = entry;
  const isIssued = envelope.some(({ directives }) =>
    directives.some((directive) => directive.messageId === messageId),
  );
  const resolved = controlRecords(resolution(commandId, 'folded'));
  if (reminder !== null && isIssued) return resolved;
  const how = reminder === null ? mode : 'queue';
  return [
    {
      stream: 'history',
      event: { type: 'inject_delivered', turnId, messageId, mode: how, content, seam, actor },
      ...causedBy([entry]),
    },
    ...resolved,
  ];
}

function causedBy(entries: readonly InboxEntry[]): { readonly cause?: Cause } {
  const commandIds = entries.flatMap(({ commandId }) => (commandId === null ? [] : [commandId]));
  return commandIds.length === 0 ? {} : { cause: { command_ids: commandIds } };
}
