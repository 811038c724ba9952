import type { FromChat } from '../../protocol/chat.ts';
import type { DelegateFromChat } from '../../protocol/chat-delegates.ts';
import type { LiveSession } from '../sessions/live-session.ts';

/** True if the message is about a delegate. */
export function isDelegateRequest(message: FromChat): message is DelegateFromChat {
  return message.type.startsWith('delegate_') || message.type === 'talk_to';
}

/** Carries out what the chat asks about a delegate. Rejects with a `CodedError` if it was refused. */
export async function handleDelegateRequest(
  session: LiveSession,
  request: DelegateFromChat,
  openTranscript: (loopId: string, name: string) => Promise<void>,
): Promise<void> {
  const { delegates, sessionId } = session;
  switch (request.type) {
    case 'delegate_open':
      return delegates.openRows(request.loopId);
    case 'delegate_close':
      delegates.closeRows(request.loopId);
      return;
    case 'delegate_stop':
      await delegates.stop(request.loopId);
      return;
    case 'delegate_transcript':
      return openTranscript(request.loopId, delegates.list.get(request.loopId)?.name ?? '');
    case 'talk_to':
      return delegates.activate(request.loopId ?? sessionId);
  }
}
