import type { JSX } from 'preact';
import type { ChatSendMode } from '../../../../src/protocol/chat.ts';
import {
  sendIcon,
  sendKey,
  sendKeys,
  sendModes,
  sendTitle,
  sendWord,
} from '../../state/send-modes.ts';
import type { ViewState } from '../../state/view-state.ts';
import { format } from '../../strings.ts';
import { useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { MenuButton } from '../shared/menu.tsx';
import { isMac } from './platform.ts';

type Props = {
  readonly view: ViewState;
  readonly ready: boolean;
  readonly onSend: (mode: ChatSendMode) => void;
  /** Gives the keyboard back to the text. */
  readonly onLeaveMenu: () => void;
};

/** Send, with the word for what Enter does, and the other ways to send beside it. */
export function SendButton({ view, ready, onSend, onLeaveMenu }: Props): JSX.Element {
  const strings = useStrings();
  const { status } = view;
  const keys = sendKeys(status);
  const sending = view.send.pending !== null;
  const isOff = sending || !ready;
  const title = (mode: ChatSendMode): string => {
    const key = sendKey(mode, keys, strings, isMac());
    const words = sendTitle(mode, status, strings);
    return key === null ? words : format(strings.keyed, words, key);
  };
  const others = sendModes(status).slice(1);
  return (
    <span class={`send-split ${isOff ? 'off' : ''}`}>
      <button
        type="button"
        class="send"
        title={sending ? strings.sending : title(keys.enter)}
        aria-disabled={isOff}
        onClick={() => {
          if (!isOff) onSend(keys.enter);
        }}
      >
        <Icon name={sending ? 'loading' : sendIcon(keys.enter)} spin={sending} />
        {sending ? strings.sending : sendWord(keys.enter, status, strings)}
      </button>
      {others.length > 0 && (
        <MenuButton
          label={strings.sendMenu}
          icon="chevron-down"
          onLeave={onLeaveMenu}
          entries={others.map((mode) => ({
            id: mode,
            icon: sendIcon(mode),
            label: sendTitle(mode, status, strings),
            hint: sendKey(mode, keys, strings, isMac()) ?? undefined,
            disabled: isOff,
            onChoose: () => onSend(mode),
          }))}
        />
      )}
    </span>
  );
}
