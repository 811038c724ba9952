import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import * as z from 'zod/mini';
import { CodedError, messageOf } from '../../base/errors.ts';
import { isObject } from '../../base/json.ts';
import type { AgentProgram } from '../core/agent-program.ts';

/** A host that ends lets what runs come to its end: it is given this long, in milliseconds. */
const TIMEOUT_MS = 30_000;

const STATUS = z.union([
  z.looseObject({
    pid: z.number(),
    version: z.string(),
    sessions: z.number(),
    clients: z.number(),
  }),
  z.looseObject({ pid: z.null() }),
]);

/** How the host of a data folder is. */
export type HostStatus = z.infer<typeof STATUS>;

const run = promisify(execFile);

/** How the host of the program's data folder is. Rejects with `host.command_failed` if that can't be found out. */
export async function hostStatus(program: AgentProgram): Promise<HostStatus> {
  const text = await hostCommand(program, '--status');
  const parsed = z.safeParse(STATUS, JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new CodedError('host.command_failed', 'The session host told its status in no known form.');
}

/** Ends the host; resolves when it is gone, at once if there is none. Rejects with `host.command_failed`. */
export async function stopHost(program: AgentProgram): Promise<void> {
  await hostCommand(program, '--stop');
}

async function hostCommand(program: AgentProgram, what: '--status' | '--stop'): Promise<string> {
  const { command, args, cwd, env } = program;
  try {
    const options = { cwd, env, timeout: TIMEOUT_MS, windowsHide: true };
    return (await run(command, [...args, 'host', what], options)).stdout;
  } catch (error) {
    const said =
      isObject(error) && typeof error['stderr'] === 'string' ? error['stderr'].trim() : '';
    const message = said === '' ? messageOf(error) : said;
    throw new CodedError('host.command_failed', message, { cause: error, retryable: true });
  }
}
