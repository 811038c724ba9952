import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { ChatStatus } from '../../../../src/protocol/chat.ts';
import { dropTarget, moveTarget } from '../../state/next-order.ts';
import type { Strings } from '../../strings.ts';
import { IconButton } from '../shared/buttons.tsx';
import { useServices, useStrings } from '../shared/context.ts';
import { MenuButton, type MenuEntry } from '../shared/menu.tsx';
import { EditBox } from './edit-box.tsx';
import { useKeptFocus } from './use-kept-focus.ts';
import { WaitingText } from './waiting-text.tsx';

type Item = ChatStatus['nextTurns']['items'][number];

type Props = {
  readonly item: Item;
  readonly at: number;
  readonly items: readonly Item[];
  /** A turn runs, which sending now would end. */
  readonly busy: boolean;
  /** The agent was started again before it was sent: what becomes of it is asked openly. */
  readonly held: boolean;
  /** Which one is being dragged. */
  readonly dragged: string | null;
  readonly onDrag: (id: string | null) => void;
};

/** One held message. Alt with an arrow key moves it; it can be dragged too. */
export function NextRow(props: Props): JSX.Element {
  const { item, at, items, dragged } = props;
  const { post } = useServices();
  const [editing, setEditing] = useState(false);
  const row = useRef<HTMLLIElement>(null);
  useKeptFocus(row, at);
  const move = (direction: 'up' | 'down'): void => {
    const target = moveTarget(items, at, direction);
    if (target !== null) post({ type: 'next_move', id: item.id, before: target.before });
  };
  const isTarget = dragged !== null && dragged !== item.id;
  return (
    <li
      ref={row}
      class={`waiting-row next-row ${isTarget ? 'drop-target' : ''}`}
      draggable={!editing}
      {...useDrag(props)}
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
              post({ type: 'next_edit', id: item.id, text });
              setEditing(false);
            }}
          />
        ) : (
          <Held {...props} move={move} onEdit={() => setEditing(true)} />
        )}
      </div>
    </li>
  );
}

type HeldProps = Props & {
  readonly move: (direction: 'up' | 'down') => void;
  readonly onEdit: () => void;
};

function Held(props: HeldProps): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const { item, busy, held, onEdit } = props;
  const remove = (): void => post({ type: 'next_remove', id: item.id });
  return (
    <>
      <WaitingText text={item.text} attached={item.attached} />
      <span class="waiting-actions">
        <IconButton icon="edit" label={strings.edit} onClick={onEdit} />
        <IconButton
          icon="send"
          label={busy ? strings.nextStopAndSend : held ? strings.heldSend : strings.nextSendNow}
          onClick={() => post({ type: 'next_send_now', id: item.id })}
        />
        {held && <IconButton icon="trash" label={strings.nextRemove} onClick={remove} />}
        <MenuButton label={strings.nextMenu} entries={menu(props, strings, remove)} />
      </span>
    </>
  );
}

function menu({ at, items, move }: HeldProps, strings: Strings, remove: () => void): MenuEntry[] {
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
    { id: 'remove', icon: 'trash', label: strings.nextRemove, apart: true, onChoose: remove },
  ];
}

type DragHandlers = Readonly<
  Record<'onDragStart' | 'onDragEnd' | 'onDragOver' | 'onDrop', (event: DragEvent) => void>
>;

function useDrag({ item, at, items, dragged, onDrag }: Props): DragHandlers {
  const { post } = useServices();
  const isTarget = dragged !== null && dragged !== item.id;
  return {
    onDragStart: (event) => {
      event.dataTransfer?.setData('text/plain', item.text);
      onDrag(item.id);
    },
    onDragEnd: () => onDrag(null),
    onDragOver: (event) => {
      if (isTarget) event.preventDefault();
    },
    onDrop: (event) => {
      if (!isTarget) return;
      event.preventDefault();
      event.stopPropagation();
      post({ type: 'next_move', id: dragged, before: dropTarget(items, dragged, at) });
      onDrag(null);
    },
  };
}
