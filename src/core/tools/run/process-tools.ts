import { z } from 'zod';
import type { PreparedCall, ProcessInfo, Tool } from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import type { ProcessId } from '../../session/words.ts';
import { defineTool } from '../define-tool.ts';
import { completed, failed } from '../outcome.ts';
import type { Launcher } from './launcher.ts';
import { commandPreview, resolveFolder } from './run-tool.ts';

const MAX_BYTES = 32 * 1024;
const processId = z
  .string()
  .transform((id) => id as ProcessId)
  .describe('As process_start gave it.');

/** The four tools for background processes of a session. */
export function processTools(home: string, launcher: Launcher): readonly Tool[] {
  return [startTool(home, launcher), listProcessesTool(), outputTool(), stopTool()];
}

function startTool(home: string, launcher: Launcher): Tool {
  return defineTool<{ command: string; cwd?: string | undefined }>({
    name: TOOL_NAMES.processStart,
    description:
      'Starts a shell command in the background, such as a server, and returns at once. You are told when it ends; it is stopped with the session.',
    kind: 'execute',
    readOnly: false,
    input: z.object({
      command: z.string().min(1).describe('The command, as for bash -c.'),
      cwd: z.string().optional().describe('Where to run it; the working folder unless given.'),
    }),
    async prepare(args, context): Promise<PreparedCall> {
      const cwd = await resolveFolder(args.cwd, context.workspace, home);
      return {
        accesses: [{ kind: 'execute', command: args.command, cwd }],
        preview: commandPreview('Start ', args.command, cwd, context.workspace),
        async run(running) {
          const checked = await resolveFolder(cwd, running.workspace, home);
          running.signal.throwIfAborted();
          const info = await running.processes.start(args.command, checked);
          return completed(`Started ${info.processId}. Use process_output to read what it says.`, {
            rawOutput: { processId: info.processId, sandboxed: launcher.sandboxed },
          });
        },
      };
    },
  });
}

function listProcessesTool(): Tool {
  return defineTool<Record<never, never>>({
    name: TOOL_NAMES.processList,
    description: 'Lists the background processes of this session.',
    kind: 'read',
    readOnly: true,
    input: z.object({}),
    async prepare(): Promise<PreparedCall> {
      return sessionCall('List the background processes', 'read', async (running) => {
        const lines = running.processes.list().map(describe);
        return completed(lines.length === 0 ? 'There are none.' : lines.join('\n'));
      });
    },
  });
}

function outputTool(): Tool {
  return defineTool<{ process_id: ProcessId; from?: number | undefined }>({
    name: TOOL_NAMES.processOutput,
    description: 'Reads what a background process has said.',
    kind: 'read',
    readOnly: true,
    input: z.object({
      process_id: processId,
      from: z
        .number()
        .int()
        .min(0)
        .optional()
        .describe('The position to read from, as the last answer gave it; 0 unless given.'),
    }) as z.ZodType<{ process_id: ProcessId; from?: number | undefined }>,
    async prepare(args): Promise<PreparedCall> {
      return sessionCall('Read the output of a background process', 'read', async (running) => {
        const output = running.processes.output(args.process_id, args.from ?? 0, MAX_BYTES);
        const info = running.processes.list().find((each) => each.processId === args.process_id);
        if (output === null || info === undefined) return failed(unknown(args.process_id));
        const said = output.text === '' ? '[No new output.]' : output.text.replace(/\n$/, '');
        return completed(`${said}\n[${describe(info)}. Read on with from=${output.next}.]`, {
          rawOutput: { next: output.next, state: info.state },
        });
      });
    },
  });
}

function stopTool(): Tool {
  return defineTool<{ process_id: ProcessId }>({
    name: TOOL_NAMES.processStop,
    description: 'Stops a background process of this session, with everything it started.',
    kind: 'execute',
    readOnly: false,
    input: z.object({ process_id: processId }) as z.ZodType<{ process_id: ProcessId }>,
    async prepare(args): Promise<PreparedCall> {
      return sessionCall('Stop a background process', 'execute', async (running) => {
        const info = await running.processes.stop(args.process_id);
        return info === null ? failed(unknown(args.process_id)) : completed(describe(info));
      });
    },
  });
}

function sessionCall(
  title: string,
  kind: 'read' | 'execute',
  run: PreparedCall['run'],
): PreparedCall {
  return {
    accesses: [{ kind: 'session' }],
    preview: { title, kind, locations: [], content: [] },
    run,
  };
}

function describe(info: ProcessInfo): string {
  const how =
    info.signal !== null
      ? ` by the signal ${info.signal}`
      : info.exitCode === null
        ? ''
        : ` with exit code ${info.exitCode}`;
  return `${info.processId}: ${info.state}${how}: ${info.command}`;
}

function unknown(processId: string): string {
  return `There is no background process ${processId}. Use process_list to see them.`;
}
