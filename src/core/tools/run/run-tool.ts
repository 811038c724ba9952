import { stat } from 'node:fs/promises';
import { z } from 'zod';
import type {
  PreparedCall,
  Tool,
  ToolContext,
  ToolOutcome,
  Workspace,
} from '../../session/tool.ts';
import { TOOL_NAMES } from '../../session/tool-names.ts';
import { defineTool, ToolError } from '../define-tool.ts';
import { resolveInWorkspace, shownPath } from '../files/disk.ts';
import { notOnDisk } from '../files/staged-notes.ts';
import { textContent } from '../outcome.ts';
import type { ChildEnd, ChildGroup } from './child-group.ts';
import { GRACE_MS, type Launcher } from './launcher.ts';
import { type CollectedOutput, OutputCollector } from './output-collector.ts';

/** Limits of one command. */
export type RunLimits = {
  /** Bytes of output that the model and the person get to read, beginning and end together. */
  readonly outputBytes: number;
  /** Bytes that are shown while the command runs. */
  readonly liveBytes: number;
  readonly defaultSeconds: number;
  readonly maxSeconds: number;
};

/** The limits unless the composition says otherwise. */
export const RUN_LIMITS: RunLimits = {
  outputBytes: 64 * 1024,
  liveBytes: 1024 * 1024,
  defaultSeconds: 120,
  maxSeconds: 3600,
};

type Input = { command: string; cwd?: string | undefined; timeout_seconds?: number | undefined };

/** Runs a shell command to its end, in a process group of its own, and gives its output and how it ended. */
export function runTool(home: string, launcher: Launcher, limits: RunLimits): Tool {
  return defineTool<Input>({
    name: TOOL_NAMES.run,
    description: `Runs a shell command and waits for its end. There is no terminal and no input. Output past ${limits.outputBytes} bytes loses its middle. For what should go on running use process_start.`,
    kind: 'execute',
    readOnly: false,
    input: z.object({
      command: z.string().min(1).describe('The command, as for bash -c.'),
      cwd: z.string().optional().describe('Where to run it; the working folder unless given.'),
      timeout_seconds: z
        .number()
        .min(0.1)
        .max(limits.maxSeconds)
        .optional()
        .describe(`After how long it is ended; ${limits.defaultSeconds} unless given.`),
    }),
    async prepare(args, context): Promise<PreparedCall> {
      const cwd = await resolveFolder(args.cwd, context.workspace, home);
      return {
        accesses: [{ kind: 'execute', command: args.command, cwd }],
        preview: commandPreview('', args.command, cwd, context.workspace),
        run: (running) => run(args, cwd, running, { home, launcher, limits }),
      };
    },
  });
}

/** The canonical folder for a command; throws `PathError` or `ToolError`. */
export async function resolveFolder(
  written: string | undefined,
  workspace: Workspace,
  home: string,
): Promise<string> {
  const { path } = await resolveInWorkspace(written ?? '.', workspace, home);
  if (!(await stat(path)).isDirectory())
    throw new ToolError(`${path} is not a folder, so no command can run in it.`);
  return path;
}

/** How a command is shown before it runs. */
export function commandPreview(
  verb: string,
  command: string,
  cwd: string,
  workspace: Workspace,
): PreparedCall['preview'] {
  const line = command.trim().split('\n')[0] ?? '';
  const where = cwd === workspace.cwd ? '' : ` (in ${shownPath(cwd, workspace)})`;
  const title = `${verb}${line.length > 100 || line !== command.trim() ? `${line.slice(0, 100)}…` : line}${where}`;
  return {
    title,
    kind: 'execute',
    locations: [],
    content: line === title ? [] : [textContent(command)],
  };
}

async function run(
  args: Input,
  prepared: string,
  context: ToolContext,
  deps: { home: string; launcher: Launcher; limits: RunLimits },
): Promise<ToolOutcome> {
  const cwd = await resolveFolder(prepared, context.workspace, deps.home);
  context.signal.throwIfAborted();
  const output = new OutputCollector({
    keepBytes: deps.limits.outputBytes,
    liveBytes: deps.limits.liveBytes,
    onText: context.output,
  });
  let open = true;
  const group = deps.launcher.launch({
    sessionId: context.sessionId,
    command: args.command,
    cwd,
    roots: context.workspace.roots,
    // What a process left behind writes later is read, so that it does not block, and dropped.
    onOutput: (bytes) => {
      if (open) output.write(bytes);
    },
  });
  const seconds = args.timeout_seconds ?? deps.limits.defaultSeconds;
  const { end, cause } = await untilEnd(group, seconds, context.signal);
  open = false;
  const note = endText(end, cause, seconds);
  const staged = notOnDisk(context.files, 'the command ran without them');
  return outcomeOf(
    end,
    output.end(),
    `${note}${note === '' ? staged.trimStart() : staged}`,
    deps.launcher.sandboxed,
    cause,
  );
}

type Cause = 'itself' | 'time' | 'stop';

async function untilEnd(
  group: ChildGroup,
  seconds: number,
  stop: AbortSignal,
): Promise<{ end: ChildEnd; cause: Cause }> {
  let cause: Cause = 'itself';
  const { promise: killed, resolve } = Promise.withResolvers<void>();
  const endGroup = (why: Cause): void => {
    if (cause !== 'itself') return;
    cause = why;
    void group.kill(GRACE_MS).finally(resolve);
  };
  const onStop = (): void => endGroup('stop');
  const timer = setTimeout(() => endGroup('time'), seconds * 1000);
  stop.addEventListener('abort', onStop, { once: true });
  if (stop.aborted) onStop();
  try {
    const end = await group.ended();
    // The leader may be gone before the rest of its group.
    if (cause !== 'itself') await killed;
    return { end, cause };
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', onStop);
  }
}

function endText(end: ChildEnd, cause: Cause, seconds: number): string {
  if (cause === 'time')
    return `[Ended after ${seconds} seconds, its time limit. Raise timeout_seconds, or use process_start.]`;
  if (cause === 'stop') return '[Stopped by the person.]';
  if (end.signal !== null) return `[Ended by the signal ${end.signal}.]`;
  return end.exitCode === 0 ? '' : `[Exit code ${end.exitCode}.]`;
}

function outcomeOf(
  end: ChildEnd,
  output: CollectedOutput,
  note: string,
  sandboxed: boolean,
  cause: Cause,
): ToolOutcome {
  const said = output.text.replace(/\s+$/, '');
  const text = [said, note].filter((part) => part !== '').join('\n') || '[No output.]';
  return {
    status: cause === 'itself' && end.exitCode === 0 ? 'completed' : 'failed',
    parts: [{ type: 'text', text }],
    content: [textContent(text)],
    rawOutput: {
      exitCode: end.exitCode,
      signal: end.signal,
      timedOut: cause === 'time',
      stopped: cause === 'stop',
      truncated: output.truncated,
      totalBytes: output.totalBytes,
      sandboxed,
    },
  };
}
