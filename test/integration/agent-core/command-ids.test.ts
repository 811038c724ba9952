import { expect, it } from 'vitest';
import { controlClient, INSTANT } from '../../support/agent-core/control-client.ts';
import { allReceipts } from '../../support/soak/control-run.ts';

it('a Stop under the id of another command stops nothing, and says so to its sender and in a receipt', async () => {
  const { client, sessionId } = await controlClient({ env: INSTANT });
  const named = { sessionId, _meta: { pilothouse: { commandId: 'mine' } } };
  const prompt = [{ type: 'text', text: 'run touch begun; sleep 0.5\nfinish with whole' }];
  const outcome = client.call('session/prompt', { ...named, prompt });
  await client.waitForUpdate(({ update }) => update.sessionUpdate === 'tool_call');
  await expect(client.call('session/cancel', named)).rejects.toMatchObject({
    code: -32600,
    data: { code: 'session.command_collision' },
  });
  expect(await outcome).toMatchObject({ stopReason: 'end_turn' });
  const receipts = (await allReceipts(client, sessionId)).filter(
    ({ method }) => method === 'session/cancel',
  );
  expect(receipts).toMatchObject([{ status: 'rejected', reason: 'command_collision' }]);
});
