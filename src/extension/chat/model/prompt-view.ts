import { isObject } from '../../../base/json.ts';
import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ChatAttachment, ChatImage } from '../../../protocol/chat.ts';

/** How a prompt's content blocks show in its row. */
export type PromptView = {
  text: string;
  attachments: ChatAttachment[];
  images: ChatImage[];
};

/** Adds a block to a row. */
export function addBlock(view: PromptView, block: ContentBlock): void {
  switch (block.type) {
    case 'text':
      view.text += block.text;
      return;
    case 'image':
      view.images.push({ mimeType: block.mimeType, data: block.data });
      return;
    case 'resource_link':
      view.attachments.push({ name: block.name, uri: block.uri, ...attachmentExtras(block._meta) });
      return;
    case 'resource':
      view.attachments.push({
        name: nameOf(block.resource.uri),
        uri: block.resource.uri,
        ...attachmentExtras(block._meta, 'selection'),
      });
      return;
    case 'audio':
      return;
  }
}

/** The blocks of a whole prompt. */
export function promptView(blocks: readonly ContentBlock[]): PromptView {
  const view: PromptView = { text: '', attachments: [], images: [] };
  for (const block of blocks) addBlock(view, block);
  return view;
}

type Extras = { kind: ChatAttachment['kind']; range?: string };

function attachmentExtras(meta: unknown, fallback: ChatAttachment['kind'] = 'file'): Extras {
  const own = isObject(meta) && isObject(meta['pilothouse']) ? meta['pilothouse'] : {};
  const kind = own['kind'];
  const range = own['range'];
  return {
    kind: kind === 'folder' || kind === 'selection' || kind === 'diagnostics' ? kind : fallback,
    ...(typeof range === 'string' ? { range } : {}),
  };
}

function nameOf(uri: string): string {
  const path = uri.split(/[?#]/, 1)[0] ?? uri;
  return decodeURIComponentSafe(path.slice(path.lastIndexOf('/') + 1)) || uri;
}

function decodeURIComponentSafe(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
