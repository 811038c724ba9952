import type { JSX } from 'preact';
import { useServices, useStrings } from '../shared/context.ts';
import { useEscapeStop } from './use-escape-stop.ts';

/** Says, after one Escape, that a second one stops the turn. */
export function EscapeHint(): JSX.Element | null {
  const strings = useStrings();
  const isArmed = useEscapeStop(useServices());
  if (!isArmed) return null;
  return (
    <p class="esc-hint" role="status">
      {strings.escAgain}
    </p>
  );
}
