import type { Suggestion, Suggestions } from './use-suggestions.ts';

/** Moves in the open list, picks from it or closes it; true where the key was for the list. */
export function handleListKey(
  event: KeyboardEvent,
  { entries, active, setActive }: Suggestions,
  pick: (suggestion: Suggestion) => void,
  close: () => void,
): boolean {
  if (event.isComposing || event.keyCode === 229) return false;
  if (event.key === 'Escape') {
    close();
    return true;
  }
  const current = entries[active];
  if (current === undefined || event.shiftKey || event.altKey) return false;
  switch (event.key) {
    case 'ArrowDown':
      setActive((active + 1) % entries.length);
      return true;
    case 'ArrowUp':
      setActive((active - 1 + entries.length) % entries.length);
      return true;
    case 'Enter':
    case 'Tab':
      pick(current);
      return true;
    default:
      return false;
  }
}
