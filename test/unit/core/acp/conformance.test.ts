import { describeConformance } from '../../../support/acp-client/conformance.ts';
import { connectFake } from '../../../support/fake-host/connect-fake.ts';

describeConformance('the ACP server over a fake host', async () => {
  const { client, server, doorClosed } = connectFake();
  return {
    client,
    cwd: '/tmp',
    prompts: { quick: 'hi', slow: 'count slowly from 1 to 100' },
    isProcess: false,
    dispose: async () => {
      client.endInput();
      await server.done;
      await doorClosed;
    },
  };
});
