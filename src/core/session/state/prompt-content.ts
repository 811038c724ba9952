import type { ContentBlock } from '../../../protocol/acp.ts';
import type { ModelPart } from '../model.ts';

/** Turns a prompt's content blocks into what a model reads. Source: ACP v1, content. */
export function toModelParts(blocks: readonly ContentBlock[]): readonly ModelPart[] {
  return blocks.map(toModelPart);
}

/** The text of a prompt as a person would read it: text blocks and the names of what is attached. */
export function toPlainText(blocks: readonly ContentBlock[]): string {
  return blocks
    .map((block) => {
      if (block.type === 'text') return block.text;
      if (block.type === 'resource_link') return block.name;
      if (block.type === 'resource') return block.resource.uri;
      return `[${block.type}]`;
    })
    .join('\n');
}

function toModelPart(block: ContentBlock): ModelPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
      return { type: 'image', mimeType: block.mimeType, data: block.data };
    case 'audio':
      return { type: 'audio', mimeType: block.mimeType, data: block.data };
    case 'resource_link':
      return { type: 'text', text: `Attached: ${block.title ?? block.name} (${block.uri})` };
    case 'resource':
      return toResourcePart(block.resource);
  }
}

function toResourcePart(
  resource: Extract<ContentBlock, { type: 'resource' }>['resource'],
): ModelPart {
  if ('text' in resource)
    return {
      type: 'text',
      text: `<resource uri="${resource.uri}">\n${resource.text}\n</resource>`,
    };
  const mimeType = resource.mimeType ?? 'application/octet-stream';
  if (mimeType.startsWith('image/')) return { type: 'image', mimeType, data: resource.blob };
  return { type: 'text', text: `Attached: ${resource.uri} (${mimeType}, binary, not shown)` };
}
