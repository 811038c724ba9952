import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ToolCallId } from '../../../src/core/session/words.ts';
import { aSession, aTool, OWNER } from '../../support/engine/a-session.ts';
import { calls, ScriptedModel, says } from '../../support/engine/scripted-model.ts';
import { ToolBench } from '../../support/tools/tool-bench.ts';

let bench: ToolBench;
beforeEach(async () => {
  bench = await ToolBench.create();
});
afterEach(() => bench.dispose());

/** Leaves its mark only if nobody ends it; its child notes its pid and outlives a shell that is killed alone. */
const LONG = `sh -c 'echo $$ > pid; exec sleep 99'; touch "first"`;

/** Waits for the pid that a command writes down. */
async function notedPid(): Promise<number> {
  for (;;) {
    const text = existsSync(bench.path('pid')) ? await readFile(bench.path('pid'), 'utf8') : '';
    if (Number(text) > 0) return Number(text);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** True for a process that runs; a zombie nobody has reaped yet does not. */
async function runs(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return status !== null && !/^\d+ \(.*\) Z/.test(status);
}

/** A session that runs two commands in one batch. */
function twoCommands(first: string) {
  const run = aTool('run', (context, input) => bench.call('run', input, context.signal));
  const model = new ScriptedModel(
    calls(['run', { command: first }], ['run', { command: 'touch second' }]),
    says('done'),
  );
  return aSession({ model, tools: [run] });
}

describe('a command whose call alone is cancelled', () => {
  it('is gone with its whole process group before the next call runs, and the turn goes on', async () => {
    const t = await twoCommands(LONG);
    const outcome = t.prompt('go');
    const pid = await notedPid();
    expect(await runs(pid)).toBe(true);
    const asked = { reason: 'too slow', remind: false, actor: OWNER } as const;
    expect(t.session.entries.cancelToolCall('1.0' as ToolCallId, asked).status).toBe('cancelled');
    await t.next('tool_ended');
    expect(await runs(pid)).toBe(false);
    expect((await outcome).terminal.kind).toBe('natural');
    expect(existsSync(bench.path('first'))).toBe(false);
    expect(existsSync(bench.path('second'))).toBe(true);
  });

  it('leaves its mark where it is not cancelled', async () => {
    const t = await twoCommands('touch first');
    expect((await t.prompt('go')).terminal.kind).toBe('natural');
    expect(existsSync(bench.path('first'))).toBe(true);
    expect(existsSync(bench.path('second'))).toBe(true);
  });
});
