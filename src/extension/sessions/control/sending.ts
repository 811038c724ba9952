import * as l10n from '@vscode/l10n';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ChatInjectMode, ChatSendMode } from '../../../protocol/chat.ts';
import type { LiveSession } from '../live-session.ts';
import { ControlError, refusalOf } from './refused.ts';

/** What becomes of a message for a running turn when the turn has just ended. */
export type WhenTurnEnded = 'prompt' | 'keep';

/** How the person has set sending. */
export type SendSettings = {
  /** What sending does while a turn runs, where nothing else is asked for. */
  readonly whileRunning: ChatSendMode;
  readonly whenTurnEnded: WhenTurnEnded;
};

/** What was done with a message. `fellBack`: its turn had ended, and it was sent as a prompt instead. */
export type Sent = {
  readonly mode: ChatSendMode;
  /** The id of the pending message or of the queued item. */
  readonly id: string | null;
  readonly fellBack: boolean;
};

/**
 * Sends a message as asked for, or as the state allows. Resolves once the agent has it (a prompt during a stop: once
 * it is kept for after it); rejects with a `CodedError`, and then the message is not on its way.
 */
export async function sendMessage(
  session: LiveSession,
  blocks: readonly ContentBlock[],
  text: string,
  settings: SendSettings,
  wanted?: ChatSendMode,
): Promise<Sent> {
  const mode = modeNow(session, settings, wanted);
  if (mode === 'next') return { mode, id: await session.controls.queue(blocks), fellBack: false };
  if (mode === 'prompt') {
    await session.send(blocks, text);
    return { mode, id: null, fellBack: false };
  }
  try {
    const id = await session.controls.inject(INJECT_MODES[mode], blocks);
    return { mode, id, fellBack: false };
  } catch (error) {
    if (!isTurnOver(error)) throw error;
    if (mode === 'note' || settings.whenTurnEnded === 'keep') throw turnOver(mode, error);
    await session.send(blocks, text);
    return { mode: 'prompt', id: null, fellBack: true };
  }
}

/** Says that a message for a running turn became a prompt. */
export function fellBackWords(): string {
  return l10n.t('The turn had just ended, so your message was sent as the next prompt.');
}

const INJECT_MODES = {
  steer: 'steer',
  interrupt: 'interrupt_immediate',
  note: 'queue',
} as const satisfies Record<string, ChatInjectMode>;

/** While it stops, a turn takes nothing in: the message is the next prompt. */
function modeNow(
  session: LiveSession,
  settings: SendSettings,
  wanted: ChatSendMode | undefined,
): ChatSendMode {
  if (wanted === 'next' || wanted === 'prompt') return wanted;
  if (session.stopState.kind === 'stopping') return 'prompt';
  return wanted ?? (session.isRunning ? settings.whileRunning : 'prompt');
}

function isTurnOver(error: unknown): boolean {
  return refusalOf(error) === 'no_active_prompt';
}

function turnOver(mode: 'steer' | 'interrupt' | 'note', cause: unknown): ControlError {
  const message =
    mode === 'note'
      ? l10n.t('No turn is running, so there is nothing to add a note to.')
      : l10n.t('The turn ended before this could be delivered. Send it again as a prompt.');
  return new ControlError('no_active_prompt', message, cause);
}
