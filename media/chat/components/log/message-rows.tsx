import type { JSX } from 'preact';
import { useContext } from 'preact/hooks';
import type { ChatAttachment, ChatItem } from '../../../../src/protocol/chat.ts';
import { format } from '../../strings.ts';
import { attachmentIcon } from '../shared/attachment-words.ts';
import { useServices, useStrings } from '../shared/context.ts';
import { NestedContext } from '../shared/delegate-context.ts';
import { useFold } from '../shared/folds.ts';
import { Icon } from '../shared/icon.tsx';
import { Markdown } from '../shared/markdown.tsx';
import { Pictures } from '../shared/pictures.tsx';
import { InjectLabel } from './control-rows.tsx';
import { MessageMenu } from './message-menu.tsx';

type ItemOf<K extends ChatItem['kind']> = Extract<ChatItem, { kind: K }>;

/** What the person wrote, as they wrote it. */
export function UserRow({ item }: { readonly item: ItemOf<'user'> }): JSX.Element {
  const isNested = useContext(NestedContext);
  return (
    <div class={item.inject === undefined ? 'user' : 'user user-inject'}>
      {item.inject !== undefined && <InjectLabel inject={item.inject} />}
      <div class="user-line">
        <p class="user-text" dir="auto">
          {item.text}
        </p>
        {!isNested && <MessageMenu item={item} />}
      </div>
      <Pictures images={item.images ?? []} />
      {item.attachments.length > 0 && (
        <ul class="chips">
          {item.attachments.map((attachment) => (
            <li key={attachment.uri + (attachment.range ?? '')}>
              <SentAttachment attachment={attachment} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function SentAttachment({ attachment }: { readonly attachment: ChatAttachment }): JSX.Element {
  const strings = useStrings();
  const { post } = useServices();
  const { uri, range, name } = attachment;
  return (
    <button
      type="button"
      class="chip"
      title={uri}
      aria-label={format(strings.openAttachment, name)}
      onClick={() =>
        post({ type: 'open_attachment', uri, ...(range === undefined ? {} : { range }) })
      }
    >
      <Icon name={attachmentIcon(attachment.kind)} />
      <span class="chip-name">{name}</span>
    </button>
  );
}

/** What the agent says. */
export function AssistantRow({ item }: { readonly item: ItemOf<'assistant'> }): JSX.Element {
  return <Markdown id={item.id} text={item.text} streaming={item.streaming} />;
}

/** What the agent thinks, folded away. */
export function ThoughtRow({ item }: { readonly item: ItemOf<'thought'> }): JSX.Element {
  const strings = useStrings();
  const [open, toggle] = useFold(item.id, false);
  return (
    <div class="thought">
      <button type="button" class="fold-button quiet" aria-expanded={open} onClick={toggle}>
        <Icon name={open ? 'chevron-down' : 'chevron-right'} />
        {item.streaming ? strings.thinking : strings.thought}
      </button>
      {open && (
        <div class="thought-text">
          <Markdown id={item.id} text={item.text} streaming={item.streaming} />
        </div>
      )}
    </div>
  );
}
