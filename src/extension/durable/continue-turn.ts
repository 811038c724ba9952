import * as l10n from '@vscode/l10n';
import { isRehearsal } from '../chat/chat-status.ts';
import type { LiveSession } from '../sessions/live-session.ts';

/** Goes on with a turn that was broken off: its process ended, or its window was closed. The prompt is one like any other, and is shown. */
export async function continueTurn(session: LiveSession): Promise<void> {
  const text = isRehearsal(session) ? 'continue' : continuation();
  await session.send([{ type: 'text', text }], text);
}

function continuation(): string {
  return l10n.t(
    'Continue where you left off. The last turn was broken off in the middle; what had been said and done until then stands above. A step whose outcome is unknown may or may not have taken effect: check before doing it again.',
  );
}
