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

/** Tells the Enter that sends from the Enter that only commits what an input method composes. */
export type ImeGuard = {
  readonly compositionStart: () => void;
  readonly compositionEnd: () => void;
  /** Plain Enter, and no input method is using it. */
  readonly isSend: (event: KeyLike) => boolean;
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
    isSend(event) {
      // Chromium sends the committing keydown before compositionend (isComposing), Safari after it (key code 229).
      if (composing || event.isComposing || event.keyCode === IME_KEY_CODE) return false;
      const modified = event.shiftKey || event.ctrlKey || event.altKey || event.metaKey;
      return event.key === 'Enter' && !modified;
    },
  };
}
