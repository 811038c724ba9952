import type { FromChat } from '../../protocol/chat.ts';
import { withText } from '../sessions/control/waiting.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import { textOf } from './waiting-status.ts';

/** What the chat asks about messages that wait and about calls that run. */
export type ControlRequest = Extract<
  FromChat,
  { type: `pending_${string}` } | { type: `next_${string}` } | { type: 'stop_tool' }
>;

/** True if the message is one of these. */
export function isControlRequest(message: FromChat): message is ControlRequest {
  return /^(pending_|next_|stop_tool$)/.test(message.type);
}

/** Puts text into the composer and focuses it. */
type Compose = (text: string) => void;

/**
 * Carries one out. Rejects with a `CodedError` if it was refused: nothing has changed then, and a text that was
 * changed is in the composer.
 */
export async function handleControlRequest(
  session: LiveSession,
  request: ControlRequest,
  compose: Compose,
): Promise<void> {
  try {
    await carryOut(session, request, compose);
  } catch (error) {
    if (request.type === 'pending_edit' || request.type === 'next_edit') compose(request.text);
    throw error;
  }
}

async function carryOut(
  session: LiveSession,
  request: ControlRequest,
  compose: Compose,
): Promise<void> {
  const { controls, waiting } = session;
  switch (request.type) {
    case 'stop_tool':
      await controls.stopTool(request.toolCallId, request.loopId);
      return;
    case 'pending_edit':
    case 'pending_revoke':
    case 'pending_recompose':
      return handlePending(session, request, compose);
    case 'next_edit': {
      const item = waiting.queue.items.find(({ itemId }) => itemId === request.id);
      return controls.editQueued(request.id, withText(item?.content ?? [], request.text));
    }
    case 'next_move':
      return controls.moveQueued(request.id, request.before);
    case 'next_remove':
      return controls.removeQueued(request.id);
    case 'next_send_now':
      return controls.sendQueuedNow(request.id);
    case 'next_pause':
      return controls.pauseQueue();
    case 'next_resume':
      return controls.resumeQueue();
  }
}

async function handlePending(
  session: LiveSession,
  request: Extract<ControlRequest, { type: `pending_${string}` }>,
  compose: Compose,
): Promise<void> {
  const { controls, waiting } = session;
  const message = waiting.find(request.id);
  if (!message) {
    // It went while the person was writing.
    if (request.type === 'pending_edit') compose(request.text);
    return;
  }
  const isBack = waiting.givenBack.includes(message);
  if (isBack) {
    if (request.type !== 'pending_revoke')
      compose(request.type === 'pending_edit' ? request.text : textOf(message.content));
    session.feed.dismiss(request.id);
    return;
  }
  switch (request.type) {
    case 'pending_edit':
      return controls.replace(request.id, withText(message.content, request.text));
    case 'pending_revoke':
      return controls.revoke(request.id);
    case 'pending_recompose':
      await controls.revoke(request.id);
      compose(textOf(message.content));
  }
}
