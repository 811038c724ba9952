import { z } from 'zod';
import type {
  DelegateInfo,
  DelegateResult,
  Delegates,
  PreparedCall,
  Tool,
  ToolContext,
  ToolOutcome,
} from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { type LoopId, MODES, type Mode } from '../../session/words.ts';
import { defineTool, ToolError } from '../define-tool.ts';
import { completed, failed } from '../outcome.ts';
import { headOf } from '../text-limit.ts';

/** The longest task or message, in UTF-16 units, and the longest name. Source: Looprig, delegates. */
const MAX_PROMPT = 192 * 1024;
const MAX_NAME = 256;

const loopId = z.string().min(1).describe('As delegate or delegate_list gave it.');
const prompt = z.string().min(1).max(MAX_PROMPT);

/** The four tools for delegates: child loops that work on a task of their own. */
export function delegateTools(): readonly Tool[] {
  return [startTool(), messageTool(), listTool(), stopTool()];
}

type StartInput = {
  prompt: string;
  name?: string | undefined;
  mode?: Mode | undefined;
  background?: boolean | undefined;
};

function startTool(): Tool {
  return defineTool<StartInput>({
    name: TOOL_NAMES.delegate,
    description:
      'Gives a task to a delegate: an agent of its own in the same folder, with the same tools, that knows nothing of this conversation but what you write to it. Its last message is the result. In the background you go on at once, and are told the result when it comes.',
    kind: 'think',
    readOnly: false,
    input: z.object({
      prompt: prompt.describe('The whole task, with all that has to be known for it.'),
      name: z.string().min(1).max(MAX_NAME).optional().describe('What to call it.'),
      mode: z
        .enum(MODES)
        .optional()
        .describe('What it may do; no more than you. Your own mode unless given.'),
      background: z.boolean().optional().describe('True: do not wait for its result.'),
    }),
    async prepare(args): Promise<PreparedCall> {
      const { background = false, name, mode } = args;
      const title = `${background ? 'Delegate in the background' : 'Delegate'}: ${shown(args.prompt)}`;
      return sessionCall(title, async (context, delegates) => {
        const { turnId, toolCallId, signal } = context;
        signal.throwIfAborted();
        const info = await delegates.start({
          turnId,
          toolCallId,
          prompt: args.prompt,
          background,
          ...(name === undefined ? {} : { name }),
          ...(mode === undefined ? {} : { mode }),
        });
        if (background) return begun(info);
        return ended(info, await delegates.result(info.requestId, signal, context.output));
      });
    },
  });
}

function messageTool(): Tool {
  return defineTool<{ loop_id: string; text: string }>({
    name: TOOL_NAMES.delegateMessage,
    description:
      'Writes to a delegate of yours. One that works reads it at its next step; one that is done gets it as its next task in the background.',
    kind: 'think',
    readOnly: false,
    input: z.object({ loop_id: loopId, text: prompt }),
    async prepare(args): Promise<PreparedCall> {
      return sessionCall(`Message a delegate: ${shown(args.text)}`, async (context, own) => {
        const { turnId, toolCallId } = context;
        const request = { turnId, toolCallId, prompt: args.text };
        const sent = await own.message(args.loop_id as LoopId, request);
        const text =
          sent.delivery === 'steered'
            ? 'It reads the message at its next step; it counts for the task that it works on.'
            : `It works on it in the background, as request ${sent.requestId}. You are told the result when it comes.`;
        return completed(text, { rawOutput: { loopId: args.loop_id, ...sent } });
      });
    },
  });
}

function listTool(): Tool {
  return defineTool<Record<never, never>>({
    name: TOOL_NAMES.delegateList,
    description: 'Lists your delegates and what each is doing.',
    kind: 'read',
    readOnly: true,
    input: z.object({}),
    async prepare(): Promise<PreparedCall> {
      return sessionCall('List the delegates', async (_context, delegates) => {
        const lines = delegates
          .list()
          .map(({ loopId: id, name, state }) => `${id}: "${name}" is ${STATES[state]}`);
        return completed(lines.length === 0 ? 'There are none.' : lines.join('\n'));
      });
    },
  });
}

function stopTool(): Tool {
  return defineTool<{ loop_id: string }>({
    name: TOOL_NAMES.delegateStop,
    description: 'Ends what a delegate of yours is doing, with everything that it started.',
    kind: 'execute',
    readOnly: false,
    input: z.object({ loop_id: loopId }),
    async prepare(args): Promise<PreparedCall> {
      return sessionCall('Stop a delegate', async (_context, delegates) => {
        const didStop = await delegates.stop(args.loop_id as LoopId);
        return completed(didStop ? 'It is stopped.' : 'It was doing nothing.');
      });
    },
  });
}

/** The beginning of a task, in one line. */
function shown(text: string): string {
  return headOf(text.trim().replace(/\s+/g, ' '), 120);
}

const STATES: Readonly<Record<DelegateInfo['state'], string>> = {
  running: 'working',
  waiting: 'waiting for an answer of the person',
  idle: 'done with all it was given',
  closed: 'gone',
};

function sessionCall(
  title: string,
  run: (context: ToolContext, delegates: Delegates) => Promise<ToolOutcome>,
): PreparedCall {
  return {
    accesses: [{ kind: 'session' }],
    preview: { title, kind: 'think', locations: [], content: [] },
    run: async (context) => {
      const { delegates } = context;
      if (delegates === undefined)
        throw new ToolError('There can be no delegates here. Do the work yourself.');
      return await run(context, delegates);
    },
  };
}

function begun({ loopId: id, name, requestId }: DelegateInfo): ToolOutcome {
  return completed(
    `The delegate "${name}" (${id}) works in the background. You are told its result when it comes; go on with something else, or end your turn.`,
    { rawOutput: { loopId: id, name, requestId, background: true } },
  );
}

function ended(info: DelegateInfo, result: DelegateResult): ToolOutcome {
  const { loopId: id, requestId, outcome, text } = result;
  const rawOutput = { loopId: id, name: info.name, requestId, outcome };
  if (outcome === 'completed') return completed(text, { rawOutput });
  return { ...failed(`The delegate "${info.name}" (${id}) ${WORDS[outcome]}: ${text}`), rawOutput };
}

const WORDS = {
  failed: 'failed',
  cancelled: 'was cancelled',
  interrupted: 'was interrupted',
} as const satisfies Record<Exclude<DelegateResult['outcome'], 'completed'>, string>;
