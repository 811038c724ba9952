import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { isBusy } from '../../state/stop.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { MoreOptions } from './more-options.tsx';
import { isInRow, isUnusual, type Option, valueName } from './option-kinds.ts';
import { OptionPicker, OptionToggle } from './option-picker.tsx';

/** Below this width of the view the row holds mode and model only; composer.css has the same. */
const NARROW = '(max-width: 280px)';

/** The session's options: mode, model and thinking in the row, whatever else it offers behind a button. */
export function Options({ status }: { readonly status: ChatStatus }): JSX.Element | null {
  const strings = useStrings();
  const narrow = useMedia(NARROW);
  const [changedIn, setChangedIn] = useState<string | null>(null);
  const busy = isBusy(status);
  const turn = busy ? (status.turnId ?? '') : null;
  if (changedIn !== null && changedIn !== turn) setChangedIn(null);
  if (status.options.length === 0) return null;
  const more = status.options.filter((option) => !isInRow(option, narrow));
  const picker = (named: boolean) => (option: Option) => (
    <OptionPicker
      key={option.id}
      option={option}
      later={busy}
      named={named}
      onChange={() => setChangedIn(turn)}
    />
  );
  const staged = status.staged?.on === true ? [strings.stagedMode] : [];
  return (
    <fieldset class="options" aria-label={strings.optionsLabel}>
      {status.options.filter((option) => isInRow(option, narrow)).map(picker(false))}
      <MoreOptions unusual={[...more.filter(isUnusual).map(inWords), ...staged]}>
        {more.map(picker(true))}
        <StagedToggle status={status} />
      </MoreOptions>
      {changedIn !== null && changedIn === turn && (
        <span class="options-later quiet" role="status">
          {strings.optionsNextTurn}
        </span>
      )}
    </fieldset>
  );
}

function inWords(option: Option): string {
  const value = valueName(option);
  return value === '' ? option.name : `${option.name}: ${value}`;
}

/** Whether edits wait for a review before they are written. */
function StagedToggle({ status }: { readonly status: ChatStatus }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <OptionToggle
      name={strings.stagedMode}
      on={status.staged?.on ?? false}
      tooltip={strings.stagedModeTooltip}
      onToggle={() => post({ type: 'command', name: 'toggle_staged' })}
    />
  );
}

function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const list = window.matchMedia(query);
    const tell = (): void => setMatches(list.matches);
    tell();
    list.addEventListener('change', tell);
    return () => list.removeEventListener('change', tell);
  }, [query]);
  return matches;
}
