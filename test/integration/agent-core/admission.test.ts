import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MOST_WAITING } from '../../../src/core/session/control/waiting-limit.ts';
import type { HistoryPage } from '../../../src/protocol/pilothouse.ts';
import type { AcpTestClient } from '../../support/acp-client/client.ts';
import { startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';
import { controlClient, INSTANT, KNOWS_CONTROL } from '../../support/agent-core/control-client.ts';

function prompt(
  client: AcpTestClient,
  sessionId: string,
  text: string,
  commandId: string,
): Promise<Record<string, unknown>> {
  const params = { sessionId, prompt: [{ type: 'text', text }] };
  return client.call('session/prompt', { ...params, _meta: { pilothouse: { commandId } } });
}

/** The commands whose prompts are in the transcript, in its order. */
async function begun(client: AcpTestClient, sessionId: string): Promise<readonly string[]> {
  const { entries } = await client.call('_pilothouse/history/page', { sessionId, limit: 1_000 });
  const page = entries as HistoryPage['entries'];
  return page
    .filter(({ updates }) => updates.some((one) => one.sessionUpdate === 'user_message_chunk'))
    .flatMap(({ cause }) => cause?.command_ids ?? []);
}

describe('prompts that wait for their turn', () => {
  it('are limited: one too many is refused and never runs, the others end once with Stop', {
    timeout: 30_000,
  }, async () => {
    const { client, sessionId } = await controlClient();
    const running = prompt(client, sessionId, 'wait 60', 'running');
    await client.waitForUpdate(({ update }) => update.sessionUpdate === 'session_info_update');
    const waiting = Array.from({ length: MOST_WAITING }, (_, at) =>
      prompt(client, sessionId, `say ${at}`, `w${at}`),
    );
    await expect(prompt(client, sessionId, 'say late', 'late')).rejects.toMatchObject({
      code: -32600,
      message: expect.stringMatching(/200 messages wait already/),
      data: { code: 'control.too_many_waiting', reason: 'too_many_waiting', waiting: MOST_WAITING },
    });
    await client.call('session/cancel', { sessionId });
    const ended = await Promise.all([running, ...waiting]);
    expect(new Set(ended.map(({ stopReason }) => stopReason))).toEqual(new Set(['cancelled']));
    const late = { sessionId, commandId: 'late' };
    expect(await client.call('_pilothouse/commands/get', late)).toMatchObject({ state: 'unknown' });
    expect(await prompt(client, sessionId, 'say late', 'late')).toMatchObject({
      stopReason: 'end_turn',
    });
    expect(await begun(client, sessionId)).toEqual(['running', 'late']);
  });
});

describe('a prompt that is too large for a record of its own', () => {
  it('is the same command after a kill: sent again it gets its end, with another body it collides', {
    timeout: 30_000,
  }, async () => {
    const home = tempFolder('home');
    const long = `run echo once >> count.txt\nwrite big.txt: ${'x'.repeat(700 * 1024)}`;
    const { client, sessionId, folder } = await controlClient({ home, env: INSTANT });
    const first = await prompt(client, sessionId, long, 'big');
    client.kill();
    const again = startAgentCore(home, { env: INSTANT });
    await again.initialize(KNOWS_CONTROL);
    await again.call('session/resume', { sessionId, cwd: folder, mcpServers: [] });
    const tip = await again.call('_pilothouse/history/page', { sessionId, limit: 1 });
    expect(await prompt(again, sessionId, long, 'big')).toEqual(first);
    await expect(prompt(again, sessionId, `${long}y`, 'big')).rejects.toMatchObject({
      code: -32600,
      data: { code: 'session.command_collision' },
    });
    expect(await again.call('_pilothouse/history/page', { sessionId, limit: 1 })).toEqual(tip);
    expect(await begun(again, sessionId)).toEqual(['big']);
    expect(readFileSync(join(folder, 'count.txt'), 'utf8')).toBe('once\n');
  });
});
