import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { format, type Strings } from '../../strings.ts';
import { attachmentIcon, attachmentWord } from '../shared/attachment-words.ts';
import { useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import type { Suggestion, Suggestions } from './use-suggestions.ts';

export const LIST_ID = 'composer-suggestions';

/** The id of an entry, for `aria-activedescendant`. */
export function entryId(index: number): string {
  return `${LIST_ID}-${index}`;
}

type Props = {
  readonly kind: 'mention' | 'command';
  readonly suggestions: Suggestions;
  readonly onPick: (suggestion: Suggestion) => void;
};

/** The list above the composer. The focus stays in the text; the active entry is named to screen readers. */
export function SuggestionList({ kind, suggestions, onPick }: Props): JSX.Element {
  const strings = useStrings();
  const list = useRef<HTMLDivElement>(null);
  const { entries, active, loading } = suggestions;
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [active]);
  const none = kind === 'command' ? strings.commandsEmpty : strings.completionsEmpty;
  return (
    <div class="suggestions">
      <div
        ref={list}
        id={LIST_ID}
        class="suggestion-list"
        role="listbox"
        tabIndex={-1}
        aria-label={kind === 'command' ? strings.commandsLabel : strings.completionsLabel}
      >
        {entries.map((entry, index) => (
          <Entry
            key={keyOf(entry)}
            entry={entry}
            index={index}
            selected={index === active}
            onPick={() => onPick(entry)}
          />
        ))}
      </div>
      {entries.length === 0 && (
        <p class="suggestions-none quiet">{loading ? strings.completionsLoading : none}</p>
      )}
      <span class="sr-only" role="status">
        {loading ? '' : counted(entries.length, strings)}
      </span>
    </div>
  );
}

function keyOf(entry: Suggestion): string {
  return entry.kind === 'command'
    ? entry.command.name
    : `${entry.completion.kind} ${entry.completion.uri}`;
}

type EntryProps = {
  readonly entry: Suggestion;
  readonly index: number;
  readonly selected: boolean;
  readonly onPick: () => void;
};

function Entry({ entry, index, selected, onPick }: EntryProps): JSX.Element {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the text keeps the focus (aria-activedescendant)
    // biome-ignore lint/a11y/useKeyWithClickEvents: the text handles the keys
    <div
      id={entryId(index)}
      class="suggestion"
      role="option"
      aria-selected={selected}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onPick}
    >
      {entry.kind === 'command' ? <CommandEntry entry={entry} /> : <MentionEntry entry={entry} />}
    </div>
  );
}

function CommandEntry({ entry }: { entry: Extract<Suggestion, { kind: 'command' }> }): JSX.Element {
  return (
    <>
      <span class="suggestion-name">/{entry.command.name}</span>
      <span class="suggestion-detail">{entry.command.description}</span>
    </>
  );
}

function MentionEntry({ entry }: { entry: Extract<Suggestion, { kind: 'mention' }> }): JSX.Element {
  const strings = useStrings();
  const { kind, name, detail } = entry.completion;
  return (
    <>
      <Icon name={attachmentIcon(kind)} />
      <span class="sr-only">{attachmentWord(kind, strings)}: </span>
      <span class="suggestion-name">{name}</span>
      <span class="suggestion-detail">{detail}</span>
    </>
  );
}

function counted(entries: number, strings: Strings): string {
  return entries === 1 ? strings.completionsOne : format(strings.completionsCount, entries);
}
