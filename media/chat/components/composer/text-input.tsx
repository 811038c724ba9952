import type { JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Draft } from '../../bridge/drafts.ts';
import { createImeGuard, type SendKey } from '../../composer/ime.ts';
import { keyOf } from '../../composer/merge-draft.ts';
import { replaceTrigger, type Trigger, triggerAt } from '../../composer/trigger.ts';
import type { ViewState } from '../../state/view-state.ts';
import { useStrings } from '../shared/context.ts';
import { handleListKey } from './list-keys.ts';
import { placeholderFor } from './placeholder.ts';
import { entryId, LIST_ID, SuggestionList } from './suggestion-list.tsx';
import { type Suggestion, type Suggestions, useSuggestions } from './use-suggestions.ts';

type Props = {
  readonly input: RefObject<HTMLTextAreaElement | null>;
  readonly view: ViewState;
  readonly draft: Draft;
  readonly onChange: (part: Partial<Draft>) => void;
  readonly onSend: (key: SendKey) => void;
};

type Popup = {
  readonly trigger: Trigger | null;
  readonly suggestions: Suggestions;
  readonly read: (element: HTMLTextAreaElement) => void;
  readonly close: () => void;
  readonly pick: (suggestion: Suggestion) => void;
};

/** The text with its list of suggestions. Enter sends, Shift+Enter breaks the line, Escape only closes the list. */
export function TextInput(props: Props): JSX.Element {
  const { input, view, draft, onChange, onSend } = props;
  const strings = useStrings();
  const [ime] = useState(createImeGuard);
  const popup = usePopup(props);
  const { trigger, suggestions } = popup;
  const active = trigger === null ? undefined : suggestions.entries[suggestions.active];
  const onKeyDown = (event: KeyboardEvent): void => {
    const isWhole = event.key === 'Enter' && isWholeCommand(draft.text, active);
    if (
      trigger !== null &&
      !isWhole &&
      handleListKey(event, suggestions, popup.pick, popup.close)
    ) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    const key = ime.sendKey(event);
    if (key === null) return;
    event.preventDefault();
    popup.close();
    onSend(key);
  };
  return (
    <div class="text-input">
      {trigger !== null && (
        <SuggestionList kind={trigger.kind} suggestions={suggestions} onPick={popup.pick} />
      )}
      <textarea
        ref={input}
        rows={1}
        dir="auto"
        value={draft.text}
        placeholder={placeholderFor(view.status, strings)}
        aria-label={strings.composerLabel}
        aria-autocomplete="list"
        aria-controls={trigger === null ? undefined : LIST_ID}
        aria-activedescendant={active === undefined ? undefined : entryId(suggestions.active)}
        spellcheck
        onInput={(event) => {
          onChange({ text: event.currentTarget.value });
          popup.read(event.currentTarget);
        }}
        onKeyDown={onKeyDown}
        onClick={(event) => popup.read(event.currentTarget)}
        onBlur={() => {
          ime.compositionEnd();
          popup.close();
        }}
        onCompositionStart={ime.compositionStart}
        onCompositionEnd={ime.compositionEnd}
      />
    </div>
  );
}

function usePopup({ input, view, draft, onChange }: Props): Popup {
  const [trigger, setTrigger] = useState<Trigger | null>(null);
  const suggestions = useSuggestions(trigger, view);
  const placeCaret = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (placeCaret.current === null) return;
    input.current?.setSelectionRange(placeCaret.current, placeCaret.current);
    placeCaret.current = null;
  });
  return {
    trigger,
    suggestions,
    close: () => setTrigger(null),
    read: ({ selectionStart, selectionEnd, value }) =>
      setTrigger(selectionStart === selectionEnd ? triggerAt(value, selectionStart) : null),
    pick: (suggestion) => {
      const element = input.current;
      if (element === null || trigger === null) return;
      const text = suggestionText(suggestion);
      const next = replaceTrigger(draft.text, element.selectionStart, trigger, text);
      placeCaret.current = next.caret;
      onChange({ text: next.text, attachments: withSuggestion(draft.attachments, suggestion) });
      setTrigger(null);
      element.focus();
    },
  };
}

/** True if there is nothing to complete: the text is the command, and it takes no words. */
function isWholeCommand(text: string, active: Suggestion | undefined): boolean {
  return (
    active?.kind === 'command' &&
    active.command.hint === undefined &&
    text === `/${active.command.name}`
  );
}

function suggestionText(suggestion: Suggestion): string {
  return suggestion.kind === 'command'
    ? `/${suggestion.command.name} `
    : `@${suggestion.completion.name} `;
}

function withSuggestion(
  attachments: Draft['attachments'],
  suggestion: Suggestion,
): Draft['attachments'] {
  if (suggestion.kind === 'command') return attachments;
  const { detail: _, ...attachment } = suggestion.completion;
  return attachments.some((other) => keyOf(other) === keyOf(attachment))
    ? attachments
    : [...attachments, attachment];
}
