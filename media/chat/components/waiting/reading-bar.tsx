import type { JSX } from 'preact';
import { LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

/** Says that this window only reads the session, who has control, and how to take it. */
export function ReadingBar({ words }: { readonly words: string }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <div class="waiting decisions reading" role="status">
      <Icon name="eye" />
      <span class="decisions-text">{words}</span>
      <span class="decisions-actions">
        <LinkButton onClick={() => post({ type: 'command', name: 'take_control' })}>
          {strings.takeControl}
        </LinkButton>
      </span>
    </div>
  );
}
