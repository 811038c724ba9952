import type { JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChatHandBack } from '../../../../src/protocol/chat-delegates.ts';
import { format } from '../../strings.ts';
import { LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { NestedContext } from '../shared/delegate-context.ts';
import { Icon } from '../shared/icon.tsx';
import { Markdown } from '../shared/markdown.tsx';

/** The result of a delegate that worked in the background, where the agent read it. */
export function HandBackRow({ item }: { readonly item: ChatHandBack }): JSX.Element {
  const strings = useStrings();
  const { store } = useServices();
  const isNested = useContext(NestedContext);
  const { toolCallId } = item;
  const title =
    item.name === '' ? strings.delegateResultOfOne : format(strings.delegateResultOf, item.name);
  return (
    <div class="hand-back">
      <p class="hand-back-title">
        <Icon name="reply" />
        <strong>{title}</strong>
        {toolCallId !== undefined && !isNested && (
          <LinkButton onClick={() => store.dispatch({ type: 'reveal', id: toolCallId })}>
            {strings.delegateShowWork}
          </LinkButton>
        )}
      </p>
      <Markdown id={item.id} text={item.text} streaming={false} />
    </div>
  );
}
