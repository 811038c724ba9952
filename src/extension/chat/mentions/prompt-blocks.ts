import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ChatAttachment, ChatImage } from '../../../protocol/chat.ts';

/** The text of an attachment that is embedded; null if it is only linked. */
export type ReadAttachment = (attachment: ChatAttachment) => Promise<string | null>;

/**
 * The content of a prompt: its text, then what is attached. Files and folders go as links with their whole URI,
 * selections and problems with their text.
 */
export async function promptBlocks(
  text: string,
  attachments: readonly ChatAttachment[],
  images: readonly ChatImage[],
  read: ReadAttachment,
): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = text === '' ? [] : [{ type: 'text', text }];
  for (const { mimeType, data } of images) blocks.push({ type: 'image', mimeType, data });
  for (const attachment of attachments)
    blocks.push(attachmentBlock(attachment, await read(attachment)));
  return blocks;
}

function attachmentBlock(attachment: ChatAttachment, text: string | null): ContentBlock {
  const { kind, name, range, uri } = attachment;
  const _meta = { pilothouse: { kind, ...(range === undefined ? {} : { range }) } };
  if (text === null) return { type: 'resource_link', uri, name, _meta };
  const place = range === undefined ? uri : `${uri}#L${range.replace('-', '-L')}`;
  return { type: 'resource', resource: { uri: place, text, mimeType: 'text/plain' }, _meta };
}
