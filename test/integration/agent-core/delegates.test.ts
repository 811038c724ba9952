import { describe, expect, it } from 'vitest';
import { controlClient, INSTANT } from '../../support/agent-core/control-client.ts';

describe('a delegate', () => {
  it('works on its task with a script of its own, and its last message is the result of the call', async () => {
    const { client, sessionId } = await controlClient({ env: INSTANT });
    await client.prompt(sessionId, 'delegate: finish with "found it"\nfinish with done');
    const ended = client.updates
      .map(({ update }) => update)
      .filter((update) => update.sessionUpdate === 'tool_call_update');
    console.log(JSON.stringify(ended, null, 1));
    expect(ended.at(-1)).toMatchObject({ status: 'completed' });
  });
});
