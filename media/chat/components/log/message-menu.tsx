import type { JSX } from 'preact';
import type { ChatItem } from '../../../../src/protocol/chat.ts';
import type { Strings } from '../../strings.ts';
import { type Services, useServices, useStrings } from '../shared/context.ts';
import { MenuButton, type MenuEntry } from '../shared/menu.tsx';

type UserItem = Extract<ChatItem, { kind: 'user' }>;

/** What can be done with a message: go back to before it, branch off, take its text. */
export function MessageMenu({ item }: { readonly item: UserItem }): JSX.Element {
  const strings = useStrings();
  const services = useServices();
  return <MenuButton label={strings.messageMenu} entries={entries(item, strings, services)} />;
}

function entries(item: UserItem, strings: Strings, { post }: Services): MenuEntry[] {
  const { messageId, checkpoint, inject } = item;
  const copy: MenuEntry = {
    id: 'copy',
    icon: 'copy',
    label: strings.messageCopy,
    apart: messageId !== undefined && inject === undefined,
    onChoose: () => post({ type: 'copy', text: item.text }),
  };
  // A message into a running turn is part of that turn: one goes back to whole turns only.
  if (messageId === undefined || inject !== undefined) return [copy];
  const act =
    (action: 'rollback' | 'restore' | 'fork' | 'truncate'): (() => void) =>
    () =>
      post({ type: 'message_action', action, messageId });
  const back: MenuEntry[] =
    checkpoint === undefined
      ? []
      : [
          {
            id: 'rollback',
            icon: 'discard',
            label: strings.messageRollback,
            onChoose: act('rollback'),
          },
          {
            id: 'restore',
            icon: 'history',
            label: strings.messageRestore,
            onChoose: act('restore'),
          },
        ];
  return [
    ...back,
    { id: 'fork', icon: 'repo-forked', label: strings.messageFork, onChoose: act('fork') },
    { id: 'truncate', icon: 'trash', label: strings.messageTruncate, onChoose: act('truncate') },
    copy,
  ];
}
