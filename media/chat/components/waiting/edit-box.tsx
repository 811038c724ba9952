import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { createImeGuard } from '../../composer/ime.ts';
import { Button } from '../shared/buttons.tsx';
import { useStrings } from '../shared/context.ts';

type Props = {
  readonly text: string;
  readonly onSave: (text: string) => void;
  readonly onCancel: () => void;
};

/** A message being changed where it stands. Enter saves, Shift+Enter breaks the line, Escape leaves it as it was. */
export function EditBox({ text, onSave, onCancel }: Props): JSX.Element {
  const strings = useStrings();
  const [ime] = useState(createImeGuard);
  const [draft, setDraft] = useState(text);
  const input = useRef<HTMLTextAreaElement>(null);
  // Before the next key: what is typed behind the press that opened it is meant for it.
  useLayoutEffect(() => {
    input.current?.focus();
    input.current?.setSelectionRange(text.length, text.length);
  }, []);
  const save = (): void => {
    if (draft.trim() === '') return;
    if (draft === text) onCancel();
    else onSave(draft);
  };
  return (
    <div class="edit-box">
      <textarea
        ref={input}
        rows={1}
        dir="auto"
        value={draft}
        aria-label={strings.editLabel}
        onInput={(event) => setDraft(event.currentTarget.value)}
        onCompositionStart={ime.compositionStart}
        onCompositionEnd={ime.compositionEnd}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Escape' && !event.isComposing) {
            event.preventDefault();
            onCancel();
          } else if (ime.sendKey(event) === 'enter') {
            event.preventDefault();
            save();
          }
        }}
      />
      <span class="edit-buttons">
        <Button onClick={save} disabled={draft.trim() === ''}>
          {strings.editSave}
        </Button>
        <Button secondary onClick={onCancel}>
          {strings.editCancel}
        </Button>
      </span>
    </div>
  );
}
