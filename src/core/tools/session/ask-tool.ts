import { z } from 'zod';
import type { ElicitationSchema } from '../../../protocol/acp.ts';
import type { PreparedCall, Tool } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool } from '../define-tool.ts';
import { completed } from '../outcome.ts';
import { headOf } from '../text-limit.ts';

const input = z.object({
  question: z.string().min(1),
  choices: z
    .array(z.string().min(1))
    .min(1)
    .max(50)
    .refine((choices) => new Set(choices).size === choices.length, 'Each choice must be different.')
    .optional()
    .describe('The possible answers; without them the person writes one.'),
});

/** Asks the person a question and waits for the answer. */
export function askTool(): Tool {
  return defineTool<z.infer<typeof input>>({
    name: TOOL_NAMES.ask,
    description:
      'Asks the person a question and waits for the answer. Use it when only they can decide.',
    kind: 'other',
    readOnly: true,
    input,
    async prepare(args): Promise<PreparedCall> {
      return {
        accesses: [{ kind: 'session' }],
        preview: {
          title: `Ask: ${headOf(args.question, 120)}`,
          kind: 'other',
          locations: [],
          content: [],
        },
        async run(context) {
          const answer = await context.ask({
            message: args.question,
            schema: answerSchema(args.choices),
          });
          if (answer.kind === 'declined') return completed(declined(answer.reason));
          const text = answer.content['answer'];
          if (typeof text !== 'string') return completed(declined(null));
          return completed(text, { rawOutput: { answer: text } });
        },
      };
    },
  });
}

function declined(reason: string | null): string {
  const why = reason === null ? 'The person declined to answer.' : `There is no answer: ${reason}.`;
  return `${why} Go on without it, or end your turn.`;
}

function answerSchema(choices: readonly string[] | undefined): ElicitationSchema {
  return {
    type: 'object',
    properties: {
      answer: {
        type: 'string',
        title: 'Answer',
        ...(choices === undefined ? {} : { enum: [...choices] }),
      },
    },
    required: ['answer'],
  };
}
