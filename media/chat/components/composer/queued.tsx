import type { JSX } from 'preact';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

/** Prompts that wait for the running turn to end. */
export function Queued({ queued }: { readonly queued: ChatStatus['queued'] }): JSX.Element | null {
  const strings = useStrings();
  if (queued.length === 0) return null;
  return (
    <ul class="queued" aria-label={strings.queuedLabel}>
      {queued.map((prompt) => (
        <li key={prompt.id} title={prompt.text}>
          <Icon name="history" />
          <span class="queued-hint">{strings.queuedHint}</span>
          <span class="queued-text" dir="auto">
            {prompt.text}
          </span>
        </li>
      ))}
    </ul>
  );
}
