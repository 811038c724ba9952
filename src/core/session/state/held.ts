import { resolution } from '../commands/resolution.ts';
import { giveBack } from '../control/give-back.ts';
import type { Inbox, InboxEntry } from '../control/inbox.ts';
import type { HeldInput } from '../control/next-turn-desk.ts';
import type { NewRecord } from '../ports.ts';
import { controlRecords } from '../records.ts';
import type { CommandId, QueueItemId, SessionId } from '../words.ts';
import { HOST } from './gates.ts';
import type { SessionState, WaitingInput } from './session-state.ts';

/** What a restart found waiting, and what is to be recorded of it. */
export type FoundWaiting = {
  readonly held: readonly HeldInput[];
  readonly records: readonly NewRecord[];
};

/**
 * Inputs that were accepted and had not begun when the process ended: prompts, and messages that were to change what
 * a turn does, are held for a person; the rest is given back (design §4.3). What was to stop something is not carried
 * out any more. `keepsPending` leaves the messages where
 * they are, for a turn that goes on.
 */
export function foundWaiting(
  sessionId: SessionId,
  state: SessionState,
  inbox: Inbox,
  { keepsPending, newId }: { readonly keepsPending: boolean; readonly newId: () => string },
): FoundWaiting {
  const prompts = state.waitingInputs;
  const messages = keepsPending ? [] : inbox.pending();
  const wanted = messages.filter(isForTheAgent);
  const others = messages.filter((entry) => !isForTheAgent(entry));
  const held = [
    ...prompts.filter(({ content }) => content.length > 0).map(heldPrompt),
    ...wanted.map((entry) => heldMessage(entry, newId() as QueueItemId)),
  ];
  return {
    held,
    records: [
      ...prompts.flatMap(promptRecords),
      ...wanted.flatMap(messageRecords),
      ...giveBack(sessionId, others, newId),
      ...state.strandedCommands.flatMap((id) =>
        controlRecords(resolution(id, 'cancelled', 'restart')),
      ),
    ],
  };
}

/** A note and a reminder are of no use without their turn. */
function isForTheAgent({ mode, reminder }: InboxEntry): boolean {
  return mode !== 'queue' && reminder === null;
}

function heldPrompt({ commandId, content, actor }: WaitingInput): HeldInput {
  return { itemId: String(commandId) as QueueItemId, content, actor, cause: commandId };
}

function heldMessage(entry: InboxEntry, itemId: QueueItemId): HeldInput {
  const { content, owner: actor, commandId, messageId } = entry;
  const cause = commandId ?? (String(messageId) as CommandId);
  return { itemId, content, actor, cause };
}

/** A prompt whose text an older version did not keep can't be held. */
function promptRecords({ commandId, content }: WaitingInput): readonly NewRecord[] {
  const how = content.length > 0 ? 'held' : 'cancelled';
  return controlRecords(resolution(commandId, how, 'restart'));
}

function messageRecords({ messageId, commandId }: InboxEntry): readonly NewRecord[] {
  return controlRecords([
    { type: 'inject_revoked', messageId, why: 'held', actor: HOST },
    ...resolution(commandId, 'cancelled', 'restart_held'),
  ]);
}
