import type { ChatSendMode, ChatStatus } from '../../../src/protocol/chat.ts';
import type { Strings } from '../strings.ts';
import { isBusy } from './stop.ts';

/** What each key does with the message now. */
export type SendKeys = {
  readonly enter: ChatSendMode;
  readonly altEnter: ChatSendMode;
  readonly ctrlEnter: ChatSendMode;
};

/** While a turn stops it takes nothing in: whatever the key, the message is sent after it. */
export function sendKeys(status: ChatStatus): SendKeys {
  if (!takesMessages(status)) {
    const isFollowed =
      status.nextTurns.items.length > 0 &&
      status.activity !== 'stopping' &&
      status.talksTo === undefined;
    return { enter: 'prompt', altEnter: isFollowed ? 'next' : 'prompt', ctrlEnter: 'prompt' };
  }
  const enter = status.runningSend;
  return { enter, altEnter: enter === 'steer' ? 'next' : 'steer', ctrlEnter: 'interrupt' };
}

/** True while a turn runs that messages can reach; what is for a delegate goes to it in one way. */
export function takesMessages(status: ChatStatus): boolean {
  const condensesOnly = status.compacting === true && (status.turnId ?? null) === null;
  const isForOther = status.talksTo !== undefined;
  return isBusy(status) && status.activity !== 'stopping' && !condensesOnly && !isForOther;
}

/** Every way to send that makes sense now; the one that Enter takes comes first. */
export function sendModes(status: ChatStatus): readonly ChatSendMode[] {
  const { enter, altEnter } = sendKeys(status);
  const all: readonly ChatSendMode[] = takesMessages(status)
    ? [enter, 'steer', 'next', 'interrupt', 'note']
    : [enter, altEnter];
  return [...new Set(all)];
}

const ICONS: Readonly<Record<ChatSendMode, string>> = {
  prompt: 'send',
  steer: 'compass',
  next: 'list-ordered',
  interrupt: 'zap',
  note: 'note',
};

export function sendIcon(mode: ChatSendMode): string {
  return ICONS[mode];
}

/** The word on the button: what Enter does. */
export function sendWord(mode: ChatSendMode, status: ChatStatus, strings: Strings): string {
  switch (mode) {
    case 'prompt':
      return status.activity === 'stopping' ? strings.modeAfterStop : strings.modeSend;
    case 'steer':
      return strings.modeSteer;
    case 'next':
      return strings.modeNext;
    case 'interrupt':
      return strings.modeInterrupt;
    case 'note':
      return strings.modeNote;
  }
}

/** What a mode is called where there is room to say all of it. */
export function sendTitle(mode: ChatSendMode, status: ChatStatus, strings: Strings): string {
  if (mode === 'next') return strings.menuNext;
  return mode === 'note' ? strings.menuNote : sendWord(mode, status, strings);
}

/** The key that sends in that mode, for tooltips; null if there is none. */
export function sendKey(
  mode: ChatSendMode,
  keys: SendKeys,
  strings: Strings,
  isMac: boolean,
): string | null {
  if (mode === keys.enter) return strings.keyEnter;
  if (mode === keys.altEnter) return strings.keyAltEnter;
  if (mode !== keys.ctrlEnter) return null;
  return isMac ? strings.keyCmdEnter : strings.keyCtrlEnter;
}
