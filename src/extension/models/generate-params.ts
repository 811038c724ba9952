import * as z from 'zod/mini';
import type { EditorGenerateParams, EditorInput } from '../../protocol/editor-models.ts';

const OBJECT = z.record(z.string(), z.json());

const INPUT: z.ZodMiniType<EditorInput> = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), mimeType: z.string(), data: z.string() }),
]);

/** The params of `_pilothouse/editor_models/generate`. */
export const GENERATE: z.ZodMiniType<EditorGenerateParams> = z.object({
  requestId: z.string(),
  modelId: z.string(),
  system: z.string(),
  messages: z.array(
    z.discriminatedUnion('role', [
      z.object({ role: z.literal('user'), parts: z.array(INPUT) }),
      z.object({
        role: z.literal('assistant'),
        text: z.string(),
        calls: z.array(z.object({ callId: z.string(), name: z.string(), input: OBJECT })),
      }),
      z.object({
        role: z.literal('tool'),
        results: z.array(z.object({ callId: z.string(), parts: z.array(INPUT) })),
      }),
    ]),
  ),
  tools: z.array(z.object({ name: z.string(), description: z.string(), inputSchema: OBJECT })),
});
