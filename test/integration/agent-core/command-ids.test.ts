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

it('an id that is no id is refused by whatever takes one, each with its receipt, and nothing stops working', async () => {
  const { client, sessionId } = await controlClient({ env: INSTANT });
  const content = [{ type: 'text', text: 'finish with fine' }];
  const named = { sessionId, gateId: 'g', mode: 'steer', content, text: 'x', loopId: sessionId };
  const controls = [
    'session/cancel',
    'session/inject',
    '_pilothouse/compact',
    '_pilothouse/gates/respond',
    '_pilothouse/delegates/message',
  ];
  const ids = [5, {}, 'x'.repeat(513)];
  for (const commandId of ids) {
    const _meta = { pilothouse: { commandId } };
    for (const method of [...controls, 'session/prompt'])
      await expect(client.call(method, { ...named, prompt: content, _meta })).rejects.toMatchObject(
        {
          code: -32602,
          data: { path: '/_meta/pilothouse/commandId' },
        },
      );
  }
  const refused = (await allReceipts(client, sessionId)).filter(
    ({ reason }) => reason === 'invalid_params',
  );
  expect(refused.map(({ method }) => method)).toEqual(ids.flatMap(() => controls));
  expect(await client.call('session/prompt', { sessionId, prompt: content })).toMatchObject({
    stopReason: 'end_turn',
  });
});
