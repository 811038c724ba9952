import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { moveTarget } from '../../state/next-order.ts';
import type { Strings } from '../../strings.ts';
import { IconButton, LinkButton } from '../shared/buttons.tsx';
import { type Services, useServices, useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';
import { MenuButton, type MenuEntry } from '../shared/menu.tsx';
import { EditBox } from './edit-box.tsx';
import { WaitingText } from './waiting-text.tsx';

type NextTurnsState = ChatStatus['nextTurns'];
type Item = NextTurnsState['items'][number];

/** What is held for later turns: sent one by one, unless it is paused. */
export function NextTurns({
  nextTurns,
}: {
  readonly nextTurns: NextTurnsState;
}): JSX.Element | null {
  const strings = useStrings();
  const { post } = useServices();
  const { items, paused } = nextTurns;
  const [dragged, setDragged] = useState<string | null>(null);
  if (items.length === 0) return null;
  return (
    <section class="waiting next-turns" aria-label={strings.nextLabel}>
      <header class="waiting-head">
        <Icon name="list-ordered" />
        <span class="waiting-mode">{strings.nextLabel}</span>
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
          <Icon name="debug-pause" />
          <span>{paused}</span>
          <LinkButton onClick={() => post({ type: 'next_resume' })}>
            {strings.nextResume}
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
            dragged={dragged}
            onDrag={setDragged}
          />
        ))}
      </ol>
    </section>
  );
}

type RowProps = {
  readonly item: Item;
  readonly at: number;
  readonly items: readonly Item[];
  readonly dragged: string | null;
  readonly onDrag: (id: string | null) => void;
};

/** One held message. Alt with an arrow key moves it; it can be dragged too. */
function NextRow({ item, at, items, dragged, onDrag }: RowProps): JSX.Element {
  const strings = useStrings();
  const services = useServices();
  const [editing, setEditing] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  const move = (direction: 'up' | 'down'): void => {
    const target = moveTarget(items, at, direction);
    if (target !== null) services.post({ type: 'next_move', id: item.id, before: target.before });
  };
  useKeptFocus(row, at);
  const isTarget = dragged !== null && dragged !== item.id;
  return (
    <li
      ref={row}
      class={`waiting-row next-row ${isTarget ? 'drop-target' : ''}`}
      draggable={!editing}
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', item.text);
        onDrag(item.id);
      }}
      onDragEnd={() => onDrag(null)}
      onDragOver={(event) => {
        if (isTarget) event.preventDefault();
      }}
      onDrop={(event) => {
        if (!isTarget || dragged === null) return;
        event.preventDefault();
        event.stopPropagation();
        services.post({ type: 'next_move', id: dragged, before: dropBefore(items, dragged, at) });
        onDrag(null);
      }}
      onKeyDown={(event) => {
        if (!event.altKey || (event.key !== 'ArrowUp' && event.key !== 'ArrowDown')) return;
        event.preventDefault();
        move(event.key === 'ArrowUp' ? 'up' : 'down');
      }}
    >
      <div class="waiting-head">
        <span class="next-number" aria-hidden="true">
          {at + 1}
        </span>
        {editing ? (
          <EditBox
            text={item.text}
            onCancel={() => setEditing(false)}
            onSave={(text) => {
              services.post({ type: 'next_edit', id: item.id, text });
              setEditing(false);
            }}
          />
        ) : (
          <>
            <WaitingText text={item.text} attached={item.attached} />
            <span class="waiting-actions">
              <IconButton icon="edit" label={strings.edit} onClick={() => setEditing(true)} />
              <IconButton
                icon="send"
                label={strings.nextSendNow}
                onClick={() => services.post({ type: 'next_send_now', id: item.id })}
              />
              <MenuButton
                label={strings.nextMenu}
                entries={menu(item, at, items, strings, services, move)}
              />
            </span>
          </>
        )}
      </div>
    </li>
  );
}

/** Where a row dropped on the one at `at` goes: it takes that place. */
function dropBefore(items: readonly Item[], dragged: string, at: number): string | null {
  const from = items.findIndex(({ id }) => id === dragged);
  return items[from < at ? at + 1 : at]?.id ?? null;
}

function menu(
  item: Item,
  at: number,
  items: readonly Item[],
  strings: Strings,
  { post }: Services,
  move: (direction: 'up' | 'down') => void,
): MenuEntry[] {
  return [
    {
      id: 'up',
      icon: 'arrow-up',
      label: strings.nextUp,
      hint: 'Alt+↑',
      disabled: at === 0,
      onChoose: () => move('up'),
    },
    {
      id: 'down',
      icon: 'arrow-down',
      label: strings.nextDown,
      hint: 'Alt+↓',
      disabled: at === items.length - 1,
      onChoose: () => move('down'),
    },
    {
      id: 'remove',
      icon: 'trash',
      label: strings.nextRemove,
      apart: true,
      onChoose: () => post({ type: 'next_remove', id: item.id }),
    },
  ];
}

/** A row that is moved is laid out anew at its new place and would lose the keyboard there. */
function useKeptFocus(row: { readonly current: HTMLElement | null }, at: number): void {
  const focused = useRef<HTMLElement | null>(null);
  useEffect(() => {
    const element = focused.current;
    if (element !== null && document.activeElement === document.body) element.focus();
  }, [at]);
  useEffect(() => {
    const element = row.current;
    if (element === null) return undefined;
    const keep = (event: FocusEvent): void => {
      focused.current = event.target instanceof HTMLElement ? event.target : null;
    };
    const drop = (event: FocusEvent): void => {
      if (event.relatedTarget !== null) focused.current = null;
    };
    element.addEventListener('focusin', keep);
    element.addEventListener('focusout', drop);
    return () => {
      element.removeEventListener('focusin', keep);
      element.removeEventListener('focusout', drop);
    };
  }, []);
}
