import { z } from 'zod';
import type { PreparedCall, Tool } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool } from '../define-tool.ts';
import { headOf } from '../text-limit.ts';

/** Gives a piece of work to a child loop and returns what came of it. */
export function delegateTool(): Tool {
  return defineTool<{ prompt: string }>({
    name: TOOL_NAMES.delegate,
    description:
      'Gives a self-contained piece of work to another agent with the same tools, and waits for its result.',
    kind: 'other',
    readOnly: false,
    input: z.object({
      prompt: z.string().min(1).describe('The work, with everything the other agent must know.'),
    }),
    async prepare(args): Promise<PreparedCall> {
      return {
        accesses: [{ kind: 'session' }],
        preview: {
          title: `Delegate: ${headOf(args.prompt, 120)}`,
          kind: 'other',
          locations: [],
          content: [],
        },
        run: (context) => context.delegate(args.prompt, context.signal),
      };
    },
  });
}
