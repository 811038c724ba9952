import { z } from 'zod';
import type { EditorModel, EditorPart } from '../../../protocol/editor-models.ts';

const model: z.ZodType<EditorModel> = z.object({
  vendor: z.string(),
  family: z.string(),
  id: z.string(),
  name: z.string(),
  maxInputTokens: z.number(),
  images: z.boolean(),
});
/** The answer to `_pilothouse/editor_models/list`. */
export const listed = z.object({ models: z.array(model) });
/** The answer to `_pilothouse/editor_models/generate`. */
export const generated = z.object({ finish: z.enum(['stop', 'tool_calls', 'length', 'other']) });
/** A piece of a reply, by notification. */
export const part: z.ZodType<{ requestId: string; part: EditorPart }> = z.object({
  requestId: z.string(),
  part: z.discriminatedUnion('type', [
    z.object({ type: z.literal('text'), text: z.string() }),
    z.object({
      type: z.literal('tool_call'),
      callId: z.string(),
      name: z.string(),
      input: z.record(z.string(), z.json()),
    }),
  ]),
});
/** What an editor says when it refuses. */
export const refusal = z.object({
  code: z.enum([
    'editor_model.no_permission',
    'editor_model.blocked',
    'editor_model.not_found',
    'editor_model.failed',
  ]),
});
