import * as l10n from '@vscode/l10n';
import type { ContentBlock } from '../../protocol/acp.ts';
import type { ChatStatus } from '../../protocol/chat.ts';
import type { ChatPending } from '../../protocol/chat-pending.ts';
import type { NextTurnQueue } from '../../protocol/pilothouse.ts';
import type { PendingMessage, Waiting } from '../sessions/control/waiting.ts';
import { promptView } from './model/prompt-view.ts';

/** What waits in a session, as the chat shows it. */
export function waitingStatus({
  pending,
  givenBack,
  queue,
}: Waiting): Pick<ChatStatus, 'pending' | 'nextTurns'> {
  return {
    pending: [
      ...pending.map((one) => chatPending(one, one.behindGate ? 'behind_approval' : 'pending')),
      ...givenBack.map((one) => chatPending(one, 'given_back')),
    ],
    nextTurns: {
      paused: pausedWords(queue.paused),
      ...(queue.paused === 'restart' ? { held: true } : {}),
      items: queue.items.map(({ itemId, content }) => ({
        id: itemId,
        text: textOf(content),
        attached: attachedTo(content),
      })),
    },
  };
}

function chatPending(one: PendingMessage, state: ChatPending['state']): ChatPending {
  const { messageId, mode, content } = one;
  return {
    id: messageId,
    mode,
    text: textOf(content),
    attached: attachedTo(content),
    state,
    editable: true,
  };
}

/** The text of a message; one that has none shows the names of what goes with it. */
export function textOf(content: readonly ContentBlock[]): string {
  return promptView(content).text || attachedTo(content).join(', ');
}

function attachedTo(content: readonly ContentBlock[]): string[] {
  const { attachments, images } = promptView(content);
  const names = attachments.map(({ name, range }) =>
    range === undefined ? name : `${name}:${range}`,
  );
  return [...names, ...images.map(() => l10n.t('Image'))];
}

function pausedWords(paused: NextTurnQueue['paused']): string | null {
  switch (paused) {
    case null:
      return null;
    case 'asked':
      return l10n.t('Paused by you');
    case 'stopped':
      return l10n.t('Paused because you pressed Stop');
    case 'turn_failed':
      return l10n.t('Paused because the last turn failed');
    case 'restart':
      return l10n.t('The agent restarted before these were sent');
  }
}
