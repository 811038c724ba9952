type KeyLike = {
  readonly key: string;
  readonly keyCode: number;
  readonly isComposing: boolean;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
};

/** The key code browsers report for a key that an input method handles. Source: UI Events, "keyCode" of IME keys. */
const IME_KEY_CODE = 229;

/** Enter alone, with Alt, or with Ctrl or Command. */
export type SendKey = 'enter' | 'altEnter' | 'ctrlEnter';

/** Tells the Enter that sends from the Enter that only commits what an input method composes. */
export type ImeGuard = {
  readonly compositionStart: () => void;
  readonly compositionEnd: () => void;
  /** Which Enter it is, if no input method is using it; null for any other key and for a line break. */
  readonly sendKey: (event: KeyLike) => SendKey | null;
};

export function createImeGuard(): ImeGuard {
  let composing = false;
  return {
    compositionStart() {
      composing = true;
    },
    compositionEnd() {
      composing = false;
    },
    sendKey(event) {
      // Chromium sends the committing keydown before compositionend (isComposing), Safari after it (key code 229).
      if (composing || event.isComposing || event.keyCode === IME_KEY_CODE) return null;
      if (event.key !== 'Enter' || event.shiftKey) return null;
      const command = event.ctrlKey || event.metaKey;
      if (event.altKey) return command ? null : 'altEnter';
      return command ? 'ctrlEnter' : 'enter';
    },
  };
}
