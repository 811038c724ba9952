import { describe, expect, test } from 'vitest';
import { tempFolder } from '../../support/agent-core/agent-core.ts';
import { controlClient } from '../../support/agent-core/control-client.ts';

const WAYS = ['session/load', 'session/resume'] as const;

/** What the session does when it is closed. */
const STATES = { idle: null, thinking: 'wait 30', working: "run trap '' TERM; sleep 30" } as const;

describe('a session that is opened again while it is being closed', () => {
  test.each(
    Object.entries(STATES).flatMap(([state, script]) =>
      WAYS.map((way) => [state, way, script] as const),
    ),
  )('is open afterwards (%s, %s)', { timeout: 30_000 }, async (_, way, script) => {
    const { client, sessionId, folder } = await controlClient();
    const running = script === null ? null : client.prompt(sessionId, script);
    if (script !== null)
      await client.waitForUpdate(({ update }) => update.sessionUpdate === 'session_info_update');
    const closed = client.call('session/close', { sessionId });
    const opened = client.call(way, { sessionId, cwd: folder, mcpServers: [] });
    await Promise.all([closed, opened]);
    if (running !== null) expect(await running).toMatchObject({ stopReason: 'cancelled' });
    expect(await client.prompt(sessionId, 'say hello')).toMatchObject({ stopReason: 'end_turn' });
  });

  test.each(WAYS)('is gone if it is being deleted (%s)', { timeout: 30_000 }, async (way) => {
    const { client, sessionId, receipts } = await controlClient();
    const cwd = tempFolder('work');
    const deleted = client.call('session/delete', { sessionId });
    const opened = client.call(way, { sessionId, cwd, mcpServers: [] });
    await expect(opened).rejects.toMatchObject({ code: -32602 });
    await deleted;
    const again = receipts().length;
    await client.call('session/delete', { sessionId });
    expect(receipts().slice(again)).toMatchObject([{ outcome: 'already_deleted' }]);
  });

  test('has one receipt for each of two closes and two deletes, in their order', async () => {
    const { client, sessionId, outcomes } = await controlClient();
    const before = outcomes().length;
    const methods = ['session/close', 'session/close', 'session/delete', 'session/delete'];
    await Promise.all(methods.map((method) => client.call(method, { sessionId })));
    expect(outcomes().slice(before)).toEqual([
      'session/close closed accepted',
      'session/close already_closed accepted',
      'session/delete deleted accepted',
      'session/delete already_deleted accepted',
    ]);
  });
});
