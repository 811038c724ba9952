import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/client';
import type { Json } from '../../../base/json.ts';
import type { ToolCallContent } from '../../../protocol/acp.ts';
import type { ModelPart } from '../../session/model.ts';
import type { ToolOutcome } from '../../session/tool.ts';
import { textContent } from '../../tools/outcome.ts';
import { headOf } from '../../tools/text-limit.ts';

/** How much text of one result the model and the person get, in bytes of UTF-8. */
export const MAX_TEXT_BYTES = 128 * 1024;
/** How much image and sound one result may carry, in characters of base64. */
export const MAX_MEDIA_CHARS = 8 * 1024 * 1024;
/** Images that every provider takes. */
const MODEL_IMAGES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/** Collects a result within its limits; what does not fit is named instead of dropped in silence. */
class Collector {
  readonly parts: ModelPart[] = [];
  readonly content: ToolCallContent[] = [];
  #textLeft = MAX_TEXT_BYTES;
  #mediaLeft = MAX_MEDIA_CHARS;

  /** Text for both; `shown` is what a person sees where that is not just the text. */
  text(text: string, shown?: ToolCallContent): void {
    const kept = headOf(text, this.#textLeft);
    const isWhole = kept.length === text.length;
    this.#textLeft -= Buffer.byteLength(kept);
    const note = `[cut: ${Buffer.byteLength(text)} bytes are more than fit; ask the tool for less]`;
    const said = isWhole ? text : kept === '' ? note : `${kept}\n${note}`;
    this.parts.push({ type: 'text', text: said });
    this.content.push(isWhole && shown !== undefined ? shown : textContent(said));
  }

  media(type: 'image' | 'audio', mimeType: string, data: string): void {
    if (data.length > this.#mediaLeft) {
      this.text(`[${type} of ${byteCount(data)} bytes (${mimeType}) left out: too large]`);
      return;
    }
    this.#mediaLeft -= data.length;
    const isForModel = type === 'audio' || MODEL_IMAGES.has(mimeType);
    this.parts.push(
      isForModel
        ? { type, mimeType, data }
        : { type: 'text', text: `[${type} (${mimeType}), shown to the user]` },
    );
    this.content.push({ type: 'content', content: { type, mimeType, data } });
  }
}

/** The result of an MCP tool call as the model reads it and a person sees it. */
export function toOutcome(result: CallToolResult): ToolOutcome {
  const collected = new Collector();
  for (const block of result.content) addBlock(collected, block);
  const structured = toJson(result.structuredContent);
  if (structured !== undefined && !result.content.some((block) => block.type === 'text'))
    collected.text(JSON.stringify(structured, null, 2));
  if (collected.parts.length === 0)
    collected.text(result.isError === true ? 'The tool failed and did not say why.' : 'Done.');
  const fits =
    structured !== undefined && Buffer.byteLength(JSON.stringify(structured)) <= MAX_TEXT_BYTES;
  return {
    status: result.isError === true ? 'failed' : 'completed',
    parts: collected.parts,
    content: collected.content,
    ...(fits ? { rawOutput: structured } : {}),
  };
}

function addBlock(collected: Collector, block: ContentBlock): void {
  switch (block.type) {
    case 'text':
      collected.text(block.text);
      return;
    case 'image':
    case 'audio':
      collected.media(block.type, block.mimeType, block.data);
      return;
    case 'resource_link': {
      const { uri, name, title, description, mimeType } = block;
      const about = [title ?? name, mimeType, description].filter((part) => part !== undefined);
      collected.text(`Resource ${uri} (${about.join('; ')})`, {
        type: 'content',
        content: {
          type: 'resource_link',
          uri,
          name,
          ...(title === undefined ? {} : { title }),
          ...(description === undefined ? {} : { description }),
          ...(mimeType === undefined ? {} : { mimeType }),
        },
      });
      return;
    }
    case 'resource':
      addResource(collected, block.resource);
      return;
  }
}

function addResource(
  collected: Collector,
  resource: Extract<ContentBlock, { type: 'resource' }>['resource'],
): void {
  const { uri, mimeType } = resource;
  const typed = mimeType === undefined ? {} : { mimeType };
  if ('text' in resource) {
    const { text } = resource;
    collected.text(`Resource ${uri}:\n${text}`, {
      type: 'content',
      content: { type: 'resource', resource: { uri, text, ...typed } },
    });
    return;
  }
  const { blob } = resource;
  const [type] = (mimeType ?? '').split('/');
  if (mimeType !== undefined && (type === 'image' || type === 'audio')) {
    collected.media(type, mimeType, blob);
    return;
  }
  const note = `[Resource ${uri}: ${byteCount(blob)} bytes${mimeType === undefined ? '' : ` of ${mimeType}`}]`;
  if (blob.length > MAX_TEXT_BYTES) collected.text(note);
  else
    collected.text(note, {
      type: 'content',
      content: { type: 'resource', resource: { uri, blob, ...typed } },
    });
}

/** The number of bytes that base64 stands for. */
function byteCount(base64: string): number {
  return Math.floor((base64.replace(/=+$/, '').length * 3) / 4);
}

function toJson(value: unknown): Json | undefined {
  // It came out of a JSON message, so it is one.
  return value as Json | undefined;
}
