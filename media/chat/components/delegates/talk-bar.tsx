import type { JSX } from 'preact';
import type { ChatTalk } from '../../../../src/protocol/chat-delegates.ts';
import { format } from '../../strings.ts';
import { LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

/** To which delegate messages go, with the way back. */
export function TalkBar({ talksTo }: { readonly talksTo: ChatTalk }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  return (
    <div class="waiting decisions talk" role="status">
      <Icon name="type-hierarchy-sub" />
      <span class="decisions-text">{format(strings.talkTo, talksTo.name)}</span>
      <span class="decisions-actions">
        <LinkButton onClick={() => post({ type: 'talk_to', loopId: null })}>
          {strings.talkBack}
        </LinkButton>
      </span>
    </div>
  );
}
