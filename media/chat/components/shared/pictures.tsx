import type { JSX } from 'preact';
import type { ChatImage } from '../../../../src/protocol/chat.ts';
import { isImage } from '../../bridge/parse-parts.ts';
import { format } from '../../strings.ts';
import { useStrings } from './context.ts';

/** Pictures in a row; those of kinds that the page does not show are left out. */
export function Pictures({
  images,
}: {
  readonly images: readonly ChatImage[];
}): JSX.Element | null {
  const strings = useStrings();
  const shown = images.filter(isImage);
  if (shown.length === 0) return null;
  return (
    <div class="pictures">
      {shown.map((image, position) => (
        <img
          // Pictures have no identity but their place.
          key={position}
          src={`data:${image.mimeType};base64,${image.data}`}
          alt={format(strings.imageOf, image.name ?? position + 1)}
        />
      ))}
    </div>
  );
}
