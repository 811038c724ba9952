import type { JSX } from 'preact';
import type { Draft } from '../../bridge/drafts.ts';
import { keyOf } from '../../composer/merge-draft.ts';
import { format } from '../../strings.ts';
import { attachmentIcon } from '../shared/attachment-words.ts';
import { IconButton } from '../shared/buttons.tsx';
import { useStrings } from '../shared/context.ts';
import { Icon } from '../shared/icon.tsx';

type Props = { readonly draft: Draft; readonly onChange: (part: Partial<Draft>) => void };

/** What goes out with the text: context and pictures, each removable. */
export function Chips({ draft, onChange }: Props): JSX.Element | null {
  const strings = useStrings();
  if (draft.attachments.length === 0 && draft.images.length === 0) return null;
  return (
    <ul class="chips" aria-label={strings.attachmentsLabel}>
      {draft.attachments.map((attachment) => (
        <li key={keyOf(attachment)} class="chip" title={attachment.uri}>
          <Icon name={attachmentIcon(attachment.kind)} />
          <span class="chip-name">{attachment.name}</span>
          <IconButton
            icon="close"
            label={format(strings.removeAttachment, attachment.name)}
            onClick={() =>
              onChange({ attachments: draft.attachments.filter((other) => other !== attachment) })
            }
          />
        </li>
      ))}
      {draft.images.map((image, position) => (
        // Pictures have no identity but their place.
        <li key={position} class="chip chip-image">
          <img
            src={`data:${image.mimeType};base64,${image.data}`}
            alt={format(strings.imageOf, image.name ?? position + 1)}
          />
          <IconButton
            icon="close"
            label={format(strings.removeAttachment, image.name ?? strings.kindImage)}
            onClick={() => onChange({ images: draft.images.filter((other) => other !== image) })}
          />
        </li>
      ))}
    </ul>
  );
}
