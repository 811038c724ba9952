import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import type { Strings } from '../../strings.ts';

/** What Enter does now, for the empty composer. */
export function placeholderFor(activity: ChatStatus['activity'], strings: Strings): string {
  switch (activity) {
    case 'none':
      return strings.placeholderNone;
    case 'idle':
      return strings.placeholderIdle;
    case 'running':
    case 'stopping':
      return strings.placeholderRunning;
    case 'waiting':
      return strings.placeholderWaiting;
    case 'starting':
      return strings.placeholderStarting;
    case 'offline':
      return strings.placeholderOffline;
    case 'untrusted':
      return strings.placeholderUntrusted;
    case 'no_folder':
      return strings.placeholderNoFolder;
  }
}

/** True where a prompt can be handed over now; else the text waits in the composer. */
export function canSend(activity: ChatStatus['activity']): boolean {
  return !['starting', 'offline', 'untrusted', 'no_folder'].includes(activity);
}
