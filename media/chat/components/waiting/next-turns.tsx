import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { isBusy } from '../../state/stop.ts';
import { IconButton, LinkButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { NextRow } from './next-row.tsx';

/** What is held for later turns: sent one by one, unless it is paused. */
export function NextTurns({ status }: { readonly status: ChatStatus }): JSX.Element | null {
  const strings = useStrings();
  const { post } = useServices();
  const { items, paused, held = false } = status.nextTurns;
  const [dragged, setDragged] = useState<string | null>(null);
  if (items.length === 0) return null;
  return (
    <section
      class={`waiting next-turns ${held ? 'held' : ''}`}
      aria-label={held ? strings.heldLabel : strings.nextLabel}
    >
      <header class="waiting-head">
        <Icon name={held ? 'warning' : 'list-ordered'} />
        <span class="waiting-mode">{held ? strings.heldLabel : strings.nextLabel}</span>
        <span class="waiting-actions">
          {paused === null && (
            <IconButton
              icon="debug-pause"
              label={strings.nextPause}
              onClick={() => post({ type: 'next_pause' })}
            />
          )}
        </span>
      </header>
      {paused !== null && (
        <p class="next-paused" role="status">
          {!held && <Icon name="debug-pause" />}
          <span>{paused}</span>
          <LinkButton onClick={() => post({ type: 'next_resume' })}>
            {held ? strings.heldSendAll : strings.nextResume}
          </LinkButton>
        </p>
      )}
      <ol>
        {items.map((item, at) => (
          <NextRow
            key={item.id}
            item={item}
            at={at}
            items={items}
            busy={isBusy(status)}
            held={held}
            dragged={dragged}
            onDrag={setDragged}
          />
        ))}
      </ol>
    </section>
  );
}
