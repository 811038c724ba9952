import { z } from 'zod';
import type { PlanEntry } from '../../../protocol/acp.ts';
import type { PreparedCall, Tool } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool } from '../define-tool.ts';
import { completed } from '../outcome.ts';

const entry = z.object({
  content: z.string().min(1),
  status: z.enum(['pending', 'in_progress', 'completed']).optional(),
  priority: z.enum(['high', 'medium', 'low']).optional(),
});
const input = z.object({ entries: z.array(entry).max(100).describe('The whole plan, in order.') });

/** Sets the session's plan, whole. */
export function planTool(): Tool {
  return defineTool<z.infer<typeof input>>({
    name: TOOL_NAMES.plan,
    description:
      'Shows the person your plan. Each call replaces the whole plan; call it again as steps get done.',
    kind: 'think',
    readOnly: true,
    input,
    async prepare(args): Promise<PreparedCall> {
      const entries: PlanEntry[] = args.entries.map(({ content, status, priority }) => ({
        content,
        status: status ?? 'pending',
        priority: priority ?? 'medium',
      }));
      return {
        accesses: [{ kind: 'session' }],
        preview: { title: 'Update the plan', kind: 'think', locations: [], content: [] },
        async run(context) {
          await context.setPlan(entries);
          return completed(`The plan has ${entries.length} steps.`);
        },
      };
    },
  });
}
