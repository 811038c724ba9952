import { describeConformance } from '../../support/acp-client/conformance.ts';
import { startAgentCore, tempFolder } from '../../support/agent-core/agent-core.ts';

describeConformance('dist/agent-core.mjs with the rehearsal model', async () => {
  const client = startAgentCore(tempFolder('home'));
  return {
    client,
    cwd: tempFolder('work'),
    prompts: { quick: 'say hello there', slow: 'count slowly from 1 to 100' },
    isProcess: true,
    dispose: async () => {
      client.endInput();
      await client.exited;
    },
  };
});
